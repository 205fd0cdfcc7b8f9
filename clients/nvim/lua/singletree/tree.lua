--- The tree of a session in a buffer: rows as the daemon draws them, filters, labels, and going on from a row.
--- Read next: acts.lua (navigate).
local acts = require('singletree.acts')
local layout = require('singletree.layout')
local say = require('singletree.say')

local M = {}

local NS = vim.api.nvim_create_namespace('singletree.tree')

M.FILTERS = { 'default', 'noTools', 'userOnly', 'labeled', 'all' }

---@class singletree.TreeView
---@field chat singletree.Chat
---@field buf integer
---@field filter singletree.TreeFilter
---@field search string
---@field rows singletree.TreeRow[]
---@field asked integer which answer is awaited; older ones are late
local View = {}
View.__index = View

local ROLES = { user = 'you', assistant = 'agent', toolResult = 'tool', bashExecution = 'shell' }

--- How a row looks: its line, and where its parts are.
---@param row singletree.TreeRow
---@param root string the workspace; its files are named without it
---@return string line, { [1]: integer, [2]: integer, [3]: string }[] marks
function M.line(row, root)
  local trunk = ('  '):rep(row.depth) .. (row.isLeaf and '● ' or row.onPath and '│ ' or '┆ ')
  local who = ROLES[row.role or ''] or row.type:gsub('_', ' ')
  local label = row.label and '[' .. row.label .. '] ' or ''
  local said = row.preview:gsub('%c', ' '):gsub(vim.pesc(root .. '/'), '')
  local line = trunk .. label .. who .. ': ' .. said
  local marks = {}
  if row.isLeaf then
    marks[#marks + 1] = { 0, #trunk, 'SingletreeLeaf' }
  elseif not row.onPath then
    marks[#marks + 1] = { 0, #line, 'SingletreeDim' }
  end
  if label ~= '' then
    marks[#marks + 1] = { #trunk, #trunk + #label, 'SingletreeLabel' }
  end
  local from = #trunk + #label
  marks[#marks + 1] = { from, from + #who, row.role == 'user' and 'SingletreeTitle' or 'SingletreeDim' }
  return line, marks
end

function View:draw()
  if not vim.api.nvim_buf_is_valid(self.buf) then
    return
  end
  local lines, lights = {}, {}
  for index, row in ipairs(self.rows) do
    local line, marks = M.line(row, self.chat.root)
    lines[index] = line
    for _, mark in ipairs(marks) do
      lights[#lights + 1] = { index - 1, mark }
    end
  end
  if #lines == 0 then
    lines[1] = self.search ~= '' and 'Nothing holds these words.' or 'Nothing here (f: another filter).'
  end
  vim.bo[self.buf].modifiable = true
  vim.api.nvim_buf_set_lines(self.buf, 0, -1, false, lines)
  vim.bo[self.buf].modifiable = false
  vim.api.nvim_buf_clear_namespace(self.buf, NS, 0, -1)
  for _, light in ipairs(lights) do
    local mark = light[2]
    vim.api.nvim_buf_set_extmark(self.buf, NS, light[1], mark[1], { end_col = mark[2], hl_group = mark[3] })
  end
  self:head()
end

function View:head()
  local win = layout.window(self.buf)
  if win then
    local looked = self.search ~= '' and ' · ' .. self.search or ''
    local bar = (' Tree · %s%s · <CR> go on from here · l label · f filter · s search · F fork · q close'):format(
      self.filter,
      looked
    )
    vim.api.nvim_set_option_value('winbar', (bar:gsub('%%', '%%%%')), { win = win, scope = 'local' })
  end
end

--- Put the cursor on an entry, or on the leaf.
---@param entry string|nil
function View:stand(entry)
  local win = layout.window(self.buf)
  for index, row in ipairs(self.rows) do
    if win and (row.entryId == entry or (not entry and row.isLeaf)) then
      vim.api.nvim_win_set_cursor(win, { index, 0 })
      return
    end
  end
end

---@return singletree.TreeRow|nil
function View:here()
  return self.rows[vim.api.nvim_win_get_cursor(0)[1]]
end

--- All rows anew, page by page.
---@param stay? string the entry to stand on
function View:load(stay)
  self.asked = self.asked + 1
  local asked, rows = self.asked, {}
  local function page(cursor)
    local params = { filter = self.filter, limit = 1000, cursor = cursor }
    params.search = self.search ~= '' and self.search or nil
    self.chat:ask('agent/tree/get', params, function(error, tree)
      if asked ~= self.asked then
        return
      elseif error then
        say.say('singletree: ' .. say.told(error), vim.log.levels.WARN)
        return
      end
      vim.list_extend(rows, tree.rows)
      if tree.next then
        page(tree.next)
        return
      end
      self.rows = rows
      self:draw()
      self:stand(stay)
    end)
  end
  page(nil)
end

local WAYS = {
  { 'Go on from here', false },
  { 'Go on from here, with a summary of what is left behind', true },
  { 'The same, and tell what the summary should look at…', 'ask' },
}

--- Go on from the row under the cursor, after asking how.
function View:go()
  local row = self:here()
  if not row then
    return
  end
  local function leave(summarize)
    acts.navigate(self.chat, row.entryId, summarize, function()
      self:close()
      self.chat:show()
    end)
  end
  vim.ui.select(WAYS, {
    prompt = 'singletree: ' .. row.preview:sub(1, 60),
    format_item = function(way)
      return way[1]
    end,
  }, function(way)
    if not way then
      return
    elseif way[2] ~= 'ask' then
      leave(way[2])
      return
    end
    vim.ui.input({ prompt = 'The summary should look at: ' }, function(said)
      if said then
        leave(said ~= '' and { instructions = said } or true)
      end
    end)
  end)
end

function View:label()
  local row = self:here()
  if not row then
    return
  end
  vim.ui.input({ prompt = 'Label: ', default = row.label or '' }, function(said)
    if said then
      local params = { entryId = row.entryId, label = said ~= '' and said or vim.NIL }
      self.chat:ask('agent/tree/label', params, self.chat:then_do(function()
        self:load(row.entryId)
      end))
    end
  end)
end

---@param step integer
function View:turn(step)
  local row = self:here()
  for index, filter in ipairs(M.FILTERS) do
    if filter == self.filter then
      self.filter = M.FILTERS[(index - 1 + step) % #M.FILTERS + 1]
      break
    end
  end
  self:load(row and row.entryId)
end

function View:look()
  vim.ui.input({ prompt = 'Rows that hold: ', default = self.search }, function(said)
    if said then
      self.search = said
      self:load()
    end
  end)
end

function View:close()
  layout.close({ self.buf })
end

function View:keys()
  local function map(keys, does)
    vim.keymap.set('n', keys, does, { buffer = self.buf, nowait = true })
  end
  local act = {
    ['<CR>'] = 'go',
    l = 'label',
    s = 'look',
    q = 'close',
  }
  for keys, name in pairs(act) do
    map(keys, function()
      self[name](self)
    end)
  end
  map('f', function()
    self:turn(1)
  end)
  map('R', function()
    self:load((self:here() or {}).entryId)
  end)
  map('F', function()
    local row = self:here()
    if row then
      self:close()
      acts.fork(self.chat, row.entryId, row.role == 'user' and 'before' or 'at')
    end
  end)
end

--- Open the tree of a conversation.
---@param chat singletree.Chat
---@param filter? singletree.TreeFilter
---@return singletree.TreeView
function M.open(chat, filter)
  local buf = vim.api.nvim_create_buf(false, true)
  local view = setmetatable({ chat = chat, buf = buf, filter = filter or 'default', search = '', rows = {}, asked = 0 }, View)
  vim.bo[buf].bufhidden, vim.bo[buf].filetype = 'wipe', 'singletree-tree'
  local line = ' tree of ' .. vim.fs.basename(chat.root):gsub('%%', '%%%%') .. '%=%l of %L '
  layout.below(buf, { wrap = false, cursorline = true, statusline = line })
  view:keys()
  view:load()
  return view
end

return M
