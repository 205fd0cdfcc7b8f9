--- The transcript buffer: keeps the lines of a buffer equal to a store's blocks, at a cost that follows what
--- has changed and not how long the conversation is. Only this module writes into the buffer, so it knows how
--- many lines each block has. Knows no daemon. Read next: draw.lua, store.lua.
local draw = require('singletree.draw')
local lit_of = require('singletree.lit')
local text = require('singletree.text')

local M = {}

local NS = vim.api.nvim_create_namespace('singletree')

--- A block on the screen. `height` counts its lines, with the free one above it if `gap`.
---@class singletree.Row
---@field block singletree.Block
---@field height integer
---@field gap boolean
---@field answers? table<integer, string>

---@class singletree.Transcript
---@field buf integer
---@field name string
---@field private store singletree.Store
---@field private rows singletree.Row[]
---@field private total integer
---@field private opened table<string, boolean>
---@field private lit singletree.Lit
local Transcript = {}
Transcript.__index = Transcript

---@param store singletree.Store
---@param name string of the buffer
---@return singletree.Transcript
function M.new(store, name)
  local made = { store = store, name = name, buf = -1, rows = {}, total = 0, opened = {} }
  made.lit = lit_of.new(function()
    return made.buf
  end, function()
    return made.rows, made.total
  end)
  return setmetatable(made, Transcript)
end

---@param buf integer
local function dress(buf)
  local options = { buftype = 'nofile', bufhidden = 'hide', swapfile = false, undolevels = -1, modifiable = false }
  for option, value in pairs(options) do
    vim.bo[buf][option] = value
  end
  vim.bo[buf].filetype = 'singletree'
end

--- The buffer; made anew if somebody has wiped it out.
---@return integer buf, boolean made
function Transcript:ensure()
  if vim.api.nvim_buf_is_valid(self.buf) and vim.api.nvim_buf_is_loaded(self.buf) then
    return self.buf, false
  end
  if not vim.api.nvim_buf_is_valid(self.buf) then
    self.buf = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(self.buf, self.name)
  end
  vim.fn.bufload(self.buf)
  dress(self.buf)
  self.store:take()
  self:reset()
  return self.buf, true
end

---@param from integer
---@param to integer
---@param lines string[]
function Transcript:write(from, to, lines)
  local bo = vim.bo[self.buf]
  bo.modifiable = true
  vim.api.nvim_buf_set_lines(self.buf, from, to, false, lines)
  bo.modifiable = false
end

--- The windows that go along with what is written: their cursor stands in the last line.
---@return integer[]
function Transcript:followers()
  local found, last = {}, vim.api.nvim_buf_line_count(self.buf)
  local busy = vim.api.nvim_get_mode().mode:find('^[vV\22sS\19no]') and vim.api.nvim_get_current_win()
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    if win ~= busy and vim.api.nvim_win_get_cursor(win)[1] == last then
      found[#found + 1] = win
    end
  end
  return found
end

---@param windows integer[]
function Transcript:follow(windows)
  local last = vim.api.nvim_buf_line_count(self.buf)
  local line = vim.api.nvim_buf_get_lines(self.buf, last - 1, last, false)[1]
  for _, win in ipairs(windows) do
    vim.api.nvim_win_set_cursor(win, { last, #line })
  end
end

--- Where a block begins. What changes is nearly always near the end, so it is counted from there.
---@param index integer
---@return integer
function Transcript:start(index)
  local row = self.total
  for i = #self.rows, index, -1 do
    row = row - self.rows[i].height
  end
  return row
end

--- The block in a line, and the line's place within it; both count from 0 where they count lines.
---@param line integer
---@return singletree.Row|nil row, integer offset
function Transcript:at(line)
  local from = 0
  for _, row in ipairs(self.rows) do
    if line < from + row.height then
      return row, line - from - (row.gap and 1 or 0)
    end
    from = from + row.height
  end
  return nil, 0
end

---@param index integer
---@param block singletree.Block
---@return singletree.Row row, string[] lines, singletree.Mark[] marks
function Transcript:drawn(index, block)
  local above = self.rows[index - 1]
  local gap = draw.gap(above and above.block, block)
  local made = draw.block(block, self.opened[block.id] or false)
  if gap then
    table.insert(made.lines, 1, '')
  end
  return { block = block, height = #made.lines, gap = gap, answers = made.answers }, made.lines, made.marks
end

--- Light a block. No mark reaches beyond its line: one that ended where the next block begins would go with it.
---@param from integer
---@param marks singletree.Mark[]
function Transcript:light(from, marks)
  for _, mark in ipairs(marks) do
    local options = { priority = 150, strict = false }
    if mark.before then
      options.virt_text, options.virt_text_pos = { { mark.before, mark.group } }, 'inline'
    elseif mark.whole then
      options.line_hl_group = mark.group
    else
      options.end_col, options.hl_group = mark.stop, mark.group
    end
    vim.api.nvim_buf_set_extmark(self.buf, NS, from + mark.row, mark.col or 0, options)
  end
end

--- How many lines two lists have in common at their beginning, and then at their end.
---@param old string[]
---@param new string[]
---@return integer first, integer last
local function common(old, new)
  local least = math.min(#old, #new)
  local first = 0
  while first < least and old[first + 1] == new[first + 1] do
    first = first + 1
  end
  local last = 0
  while last < least - first and old[#old - last] == new[#new - last] do
    last = last + 1
  end
  return first, last
end

--- Draw a block in place of what stands there, touching only the lines that are others now.
---@param index integer
---@param height integer of what stands there
---@param row singletree.Row
---@param lines string[]
---@param marks singletree.Mark[]
function Transcript:replace(index, height, row, lines, marks)
  local from = self:start(index)
  local old = vim.api.nvim_buf_get_lines(self.buf, from, from + height, false)
  local first, last = common(old, lines)
  vim.api.nvim_buf_clear_namespace(self.buf, NS, from, from + height)
  if first < #old or first < #lines then
    self:write(from + first, from + height - last, vim.list_slice(lines, first + 1, #lines - last))
  end
  self.total = self.total + #lines - height
  self:light(from + (row.gap and 1 or 0), marks)
  self.lit:later(row.block)
end

---@param index integer
function Transcript:redraw(index)
  local old = self.rows[index]
  local row, lines, marks = self:drawn(index, old.block)
  self:replace(index, old.height, row, lines, marks)
  self.rows[index] = row
end

--- What stands above a block is another one now: it may need a free line, or none.
---@param index integer
function Transcript:regap(index)
  local above, below = self.rows[index - 1], self.rows[index]
  if below and below.gap ~= draw.gap(above and above.block, below.block) then
    self:redraw(index)
  end
end

---@param change singletree.Change
function Transcript:put(change)
  local index = change.index --[[@as integer]]
  if not change.new then
    self:redraw(index)
    return
  end
  local row, lines, marks = self:drawn(index, change.block)
  local from = self:start(index)
  if self.total == 0 then
    self:write(0, -1, lines)
  else
    self:write(from, from, lines)
  end
  table.insert(self.rows, index, row)
  self.total = self.total + row.height
  self:light(from + (row.gap and 1 or 0), marks)
  self.lit:later(row.block)
  self:regap(index + 1)
end

---@param change singletree.Change
function Transcript:drop(change)
  local index = change.index --[[@as integer]]
  local from = self:start(index)
  local height = self.rows[index].height
  vim.api.nvim_buf_clear_namespace(self.buf, NS, from, from + height)
  self.lit:clear(from, from + height)
  self:write(from, from + height, {})
  table.remove(self.rows, index)
  self.total = self.total - height
  self:regap(index)
end

--- More text at the end of a block: its last line is written anew, and what comes after it.
---@param change singletree.Change
function Transcript:append(change)
  local block = change.block --[[@as singletree.Block]]
  local index = #self.rows
  while index > 0 and self.rows[index].block ~= block do
    index = index - 1
  end
  if block.kind ~= 'text' then
    if self.opened[block.id] then
      self:redraw(index)
    end
    return
  end
  local row = self.rows[index]
  local last = self:start(index) + row.height - 1
  local line = vim.api.nvim_buf_get_lines(self.buf, last, last + 1, false)[1]
  local lines = text.lines(line .. change.text)
  self:write(last, last + 1, lines)
  row.height = row.height + #lines - 1
  self.total = self.total + #lines - 1
  self.lit:later(block)
end

--- Everything anew; each window stays at the block it shows.
function Transcript:reset()
  local followers, places = self:followers(), {}
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    local row, offset = self:at(vim.api.nvim_win_get_cursor(win)[1] - 1)
    if row and not vim.tbl_contains(followers, win) then
      places[row.block.id] = { win = win, offset = offset }
    end
  end
  local all, lights = {}, {}
  self.rows, self.total = {}, 0
  for index, block in ipairs(self.store.order) do
    local row, lines, marks = self:drawn(index, block)
    lights[#lights + 1] = { #all + (row.gap and 1 or 0), marks }
    if places[block.id] then
      places[block.id].line = #all + math.max(0, math.min(places[block.id].offset, row.height - 1)) + 1
    end
    vim.list_extend(all, lines)
    self.rows[index] = row
  end
  self.total = #all
  self:write(0, -1, all)
  vim.api.nvim_buf_clear_namespace(self.buf, NS, 0, -1)
  self.lit:clear(0, -1)
  for _, light in ipairs(lights) do
    self:light(light[1], light[2])
  end
  for _, row in ipairs(self.rows) do
    self.lit:later(row.block)
  end
  self:follow(followers)
  for _, place in pairs(places) do
    local line = math.min(place.line or 1, vim.api.nvim_buf_line_count(self.buf))
    vim.api.nvim_win_set_cursor(place.win, { line, 0 })
  end
end

--- Show what has changed. While there is no buffer nothing is done: `ensure` draws everything.
---@param changes singletree.Change[]
function Transcript:apply(changes)
  if not (vim.api.nvim_buf_is_valid(self.buf) and vim.api.nvim_buf_is_loaded(self.buf)) then
    return
  end
  local foreign = vim.api.nvim_buf_line_count(self.buf) ~= math.max(1, self.total) -- somebody wrote into it
  for _, change in ipairs(changes) do
    if change.op == 'reset' or foreign then
      self:reset() -- draws the blocks as they are after all of the changes
      return
    end
  end
  local followers, whole = self:followers(), {}
  for _, change in ipairs(changes) do
    local block = change.block
    if block and not (change.op == 'append' and whole[block]) then
      self[change.op](self, change)
      whole[block] = change.op == 'put' -- drawn as it is after all of the changes
    end
  end
  self:follow(followers)
end

--- Open or close what a line belongs to. False: there is nothing to open.
---@param line integer counted from 0
---@return boolean
function Transcript:toggle(line)
  local row = self:at(line)
  local kinds = { tool = true, thinking = true, summary = true }
  if not row or not kinds[row.block.kind] then
    return false
  end
  local id = row.block.id
  self.opened[id] = not self.opened[id] or nil
  for index, one in ipairs(self.rows) do
    if one.block == row.block then
      self:redraw(index)
      self:reveal(index)
      return true
    end
  end
  return false
end

--- Scroll the current window, if it shows the transcript, so that as much of a block is seen as fits.
---@param index integer
function Transcript:reveal(index)
  if vim.api.nvim_win_get_buf(0) ~= self.buf then
    return
  end
  local first = self:start(index) + 1
  local last = first + self.rows[index].height - 1
  local beyond = last - vim.fn.line('w$')
  if beyond > 0 then
    local top = vim.fn.line('w0')
    vim.fn.winrestview({ topline = math.max(top, math.min(first, top + beyond)) })
  end
end

return M
