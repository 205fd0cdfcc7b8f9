--- The prompt buffer: what the person is writing. It is kept on the disk while it is written and taken out only
--- when the daemon has it; what was said before can be walked through. Knows no daemon. Read next: draft.lua.
local draft = require('singletree.draft')

local M = {}

local NS = vim.api.nvim_create_namespace('singletree.input')

---@class singletree.Input
---@field buf integer
---@field name string
---@field root string
---@field said fun(): string[] what was said before
---@field private back integer how far the person has walked back; 0: in the draft
---@field private own string[] the draft, while they walk
---@field private timer uv.uv_timer_t
local Input = {}
Input.__index = Input

---@param root string
---@param name string
---@param said fun(): string[]
---@return singletree.Input
function M.new(root, name, said)
  local timer = assert(vim.uv.new_timer())
  return setmetatable({ buf = -1, name = name, root = root, said = said, back = 0, own = {}, timer = timer }, Input)
end

---@return string[]
function Input:lines()
  if not (vim.api.nvim_buf_is_valid(self.buf) and vim.api.nvim_buf_is_loaded(self.buf)) then
    return draft.read(self.root)
  end
  return vim.api.nvim_buf_get_lines(self.buf, 0, -1, false)
end

---@return string
function Input:text()
  return table.concat(self:lines(), '\n')
end

--- Keep what stands there, now.
function Input:save()
  self.timer:stop()
  if vim.api.nvim_buf_is_valid(self.buf) and vim.api.nvim_buf_is_loaded(self.buf) then
    draft.write(self.root, self:lines())
  end
end

function Input:hint()
  vim.api.nvim_buf_clear_namespace(self.buf, NS, 0, -1)
  if self:text() == '' then
    vim.api.nvim_buf_set_extmark(self.buf, NS, 0, 0, {
      virt_text = { { 'Ask something.', 'SingletreeDim' } },
      virt_text_pos = 'overlay',
    })
  end
end

function Input:changed()
  self:hint()
  self.timer:start(
    300,
    0,
    vim.schedule_wrap(function()
      self:save()
    end)
  )
end

--- The buffer; made anew, with what stood in it, if somebody has wiped it out.
---@return integer buf, boolean made
function Input:ensure()
  if vim.api.nvim_buf_is_valid(self.buf) and vim.api.nvim_buf_is_loaded(self.buf) then
    return self.buf, false
  end
  if not vim.api.nvim_buf_is_valid(self.buf) then
    self.buf = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(self.buf, self.name)
  end
  vim.fn.bufload(self.buf)
  local bo = vim.bo[self.buf]
  bo.buftype, bo.bufhidden, bo.swapfile, bo.filetype = 'nofile', 'hide', false, 'singletree-prompt'
  self:set(draft.read(self.root))
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI', 'TextChangedP' }, {
    buffer = self.buf,
    callback = function()
      self:changed()
    end,
  })
  vim.api.nvim_create_autocmd({ 'BufUnload', 'VimLeavePre' }, {
    buffer = self.buf,
    callback = function()
      self:save()
    end,
  })
  return self.buf, true
end

---@param lines string[]
function Input:set(lines)
  if not (vim.api.nvim_buf_is_valid(self.buf) and vim.api.nvim_buf_is_loaded(self.buf)) then
    draft.write(self.root, lines)
    return
  end
  vim.api.nvim_buf_set_lines(self.buf, 0, -1, false, lines)
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    vim.api.nvim_win_set_cursor(win, { math.max(1, #lines), #(lines[#lines] or '') })
  end
  self:hint()
  self:save()
end

--- Put a text before what stands there: it came back, or is to be said otherwise.
---@param said string
function Input:give_back(said)
  local lines = vim.split(said, '\n', { plain = true })
  local now = self:lines()
  if #now > 1 or (now[1] or '') ~= '' then
    vim.list_extend(lines, { '' })
    vim.list_extend(lines, now)
  end
  self:set(lines)
end

--- Take out what is being sent. What is typed meanwhile stays; `accepted` or `give_back` follows.
---@return string
function Input:take()
  local said = self:text()
  self.back, self.own = 0, {}
  vim.api.nvim_buf_set_lines(self.buf, 0, -1, false, {})
  self:hint()
  self.timer:stop() -- on the disk it stays until the daemon has it
  return said
end

--- The text of another prompt, further back or further on.
---@param step 1|-1
function Input:walk(step)
  local said = self.said()
  local back = math.max(0, math.min(#said, self.back + step))
  if back == self.back then
    return
  end
  if self.back == 0 then
    self.own = self:lines()
  end
  self.back = back
  self:set(back == 0 and self.own or vim.split(said[#said - back + 1], '\n', { plain = true }))
end

return M
