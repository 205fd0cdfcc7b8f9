--- The colours of the Markdown texts of a transcript: looked at soon after they change, newest first, a few at a
--- time, and never for more than a tenth of the time. Read next: transcript.lua, markdown.lua.
local markdown = require('singletree.markdown')

local M = {}

local NS = vim.api.nvim_create_namespace('singletree.markdown')

--- How often a text that streams is looked at anew, in milliseconds (less often if that takes long), and how many
--- texts are lit at once after everything was drawn.
local AGAIN, AT_ONCE = 120, 8

--- Whether a whole line can be hidden.
local LINES = vim.fn.has('nvim-0.11') == 1

---@class singletree.Lit
---@field waiting table<singletree.Block, boolean>
---@field known table<singletree.Block, { said: string, lights: singletree.Light[] }>
---@field awaited boolean
---@field pause integer
---@field rows fun(): singletree.Row[], integer the rows, and how many lines they are
---@field buf fun(): integer
local Lit = {}
Lit.__index = Lit

---@param buf fun(): integer
---@param rows fun(): singletree.Row[], integer
---@return singletree.Lit
function M.new(buf, rows)
  local known = setmetatable({}, { __mode = 'k' })
  return setmetatable({ waiting = {}, known = known, awaited = false, pause = AGAIN, buf = buf, rows = rows }, Lit)
end

--- Look at a text, soon.
---@param block singletree.Block
function Lit:later(block)
  if block.kind ~= 'text' then
    return
  end
  self.waiting[block] = true
  if not self.awaited then
    self.awaited = true
    vim.defer_fn(function()
      local began = vim.uv.hrtime()
      self.awaited = false
      self:light()
      self.pause = math.max(AGAIN, math.ceil((vim.uv.hrtime() - began) / 1e5))
    end, block.live and self.pause or 0)
  end
end

--- Light what waits; what is too much for now comes next.
function Lit:light()
  if not vim.api.nvim_buf_is_loaded(self.buf()) then
    return
  end
  local rows, from = self.rows()
  local left = AT_ONCE
  for index = #rows, 1, -1 do
    local row = rows[index]
    from = from - row.height
    if next(self.waiting) == nil then
      return
    elseif self.waiting[row.block] then
      if left == 0 then
        self:later(row.block)
        return
      end
      left = left - 1
      self.waiting[row.block] = nil
      self:text(row.block, from + (row.gap and 1 or 0), from + row.height)
    end
  end
  self.waiting = {}
end

---@param block singletree.Block
---@param first integer
---@param last integer
function Lit:text(block, first, last)
  local buf = self.buf()
  local lines = vim.api.nvim_buf_get_lines(buf, first, last, false)
  local said, known = table.concat(lines, '\n'), self.known[block]
  if not known or known.said ~= said then
    known = { said = said, lights = markdown.lights(lines) }
    self.known[block] = known
  end
  self:clear(first, last)
  for _, light in ipairs(known.lights) do
    vim.api.nvim_buf_set_extmark(buf, NS, first + light.row, light.col, {
      end_row = first + light.stop_row,
      end_col = light.stop_col,
      hl_group = light.group,
      conceal = light.conceal,
      conceal_lines = LINES and light.conceal_lines or nil,
      priority = light.priority,
      strict = false,
    })
  end
end

--- Put out the lights of some lines.
---@param first integer
---@param last integer
function Lit:clear(first, last)
  vim.api.nvim_buf_clear_namespace(self.buf(), NS, first, last)
end

return M
