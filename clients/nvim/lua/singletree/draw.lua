--- How a block looks: lines, and which parts of them are lit how. Pure: it knows neither buffers nor windows.
--- Read next: transcript.lua, which puts them on the screen.
local entries = require('singletree.entries')
local text = require('singletree.text')

local M = {}

--- As many lines of arguments, of a diff and of an output stand in the transcript; `go` opens the whole.
M.SHOWN = 200

--- Part of a line in a highlight group, or the whole of it to the edge of the window, or words that stand before
--- it without being in the buffer. Rows and columns count from 0.
---@class singletree.Mark
---@field row integer
---@field group string
---@field col? integer
---@field stop? integer
---@field whole? boolean
---@field before? string

--- What a question looks like, and which line stands for which answer.
---@class singletree.Drawn
---@field lines string[]
---@field marks singletree.Mark[]
---@field answers? table<integer, string> row → id of the option

---@type table<string, {sign: string, group: string}>
M.STATUS = {
  streaming = { sign = '…', group = 'SingletreeRunning' },
  pending = { sign = '○', group = 'SingletreeRunning' },
  running = { sign = '●', group = 'SingletreeRunning' },
  completed = { sign = '✓', group = 'SingletreeDone' },
  failed = { sign = '✗', group = 'SingletreeFailed' },
  cancelled = { sign = '⊘', group = 'SingletreeFailed' },
  rejected = { sign = '⊘', group = 'SingletreeFailed' },
}

---@param lines string[]
---@param more string[]
local function add(lines, more)
  for _, line in ipairs(more) do
    lines[#lines + 1] = line
  end
end

--- All of these lines in one group.
---@param marks singletree.Mark[]
---@param lines string[]
---@param from integer
---@param group string
---@param whole? boolean
local function paint(marks, lines, from, group, whole)
  for row = from, #lines - 1 do
    marks[#marks + 1] = { row = row, col = 0, stop = #lines[row + 1], group = group, whole = whole }
  end
end

---@param milliseconds integer
---@return string
local function duration(milliseconds)
  if milliseconds < 1000 then
    return ('%d ms'):format(milliseconds)
  elseif milliseconds < 60000 then
    return ('%.1f s'):format(milliseconds / 1000)
  end
  return ('%d min %02d s'):format(milliseconds / 60000, milliseconds / 1000 % 60)
end

--- How many lines a diff adds and takes away.
---@param diff string
---@return string
local function count(diff)
  local added, gone = 0, 0
  for line in diff:gmatch('[^\n]+') do
    local sign = line:sub(1, 3)
    if sign ~= '+++' and sign ~= '---' then
      added = added + (sign:sub(1, 1) == '+' and 1 or 0)
      gone = gone + (sign:sub(1, 1) == '-' and 1 or 0)
    end
  end
  return ('+%d −%d'):format(added, gone)
end

local DIFF = { ['+'] = 'Added', ['-'] = 'Removed', ['@'] = 'Changed' }

--- A text of a tool's beside a bar, cut where it becomes too long.
---@param lines string[]
---@param marks singletree.Mark[]
---@param said string
---@param diff? boolean
local function barred(lines, marks, said, diff)
  local shown, more = text.head(said, M.SHOWN)
  for _, line in ipairs(shown) do
    local group = diff and DIFF[line:sub(1, 1)] or 'SingletreeOutput'
    marks[#marks + 1] = { row = #lines, group = 'SingletreeDim', before = '│ ' }
    marks[#marks + 1] = { row = #lines, col = 0, stop = #line, group = group }
    lines[#lines + 1] = line
  end
  if more > 0 then
    add(lines, { ('… %d lines more: go shows all'):format(more) })
    paint(marks, lines, #lines - 1, 'SingletreeDim')
  end
end

--- The arguments of a call as a person reads them.
---@param tool singletree.Tool
---@return string
local function arguments(tool)
  local input = tool.input or {}
  local lines = {}
  local keys = vim.tbl_keys(input)
  table.sort(keys)
  for _, key in ipairs(keys) do
    local value = input[key]
    lines[#lines + 1] = key .. ': ' .. (type(value) == 'string' and value or vim.json.encode(value))
  end
  return table.concat(lines, '\n')
end

--- What a call is called where the daemon has not said it: its name and its main argument.
---@param tool singletree.Tool
---@return string
function M.title(tool)
  if tool.title and tool.title ~= tool.name then
    return tool.title
  end
  local input = tool.input or {}
  local main = input.path or input.command or input.pattern or input.query
  return type(main) == 'string' and tool.name .. ' ' .. main or tool.name
end

---@param block singletree.Block
---@param opened boolean
---@return singletree.Drawn
local function tool_call(block, opened)
  local tool = block.tool --[[@as singletree.Tool]]
  local status = M.STATUS[tool.status] or M.STATUS.pending
  local head = (opened and '▾ ' or '▸ ') .. status.sign .. ' ' .. text.brief(M.title(tool), 200)
  local facts = {}
  facts[#facts + 1] = tool.diff and count(tool.diff) or nil
  local undone = tool.status == 'rejected' or tool.status == 'cancelled'
  facts[#facts + 1] = undone and tool.status or tool.durationMs and duration(tool.durationMs) or nil
  local tail = #facts > 0 and '  ' .. table.concat(facts, ' · ') or ''
  local sign = #'▸ '
  local marks = {
    { row = 0, col = 0, stop = #head, group = 'SingletreeTool' },
    { row = 0, col = sign, stop = sign + #status.sign, group = status.group },
    { row = 0, col = #head, stop = #head + #tail, group = 'SingletreeDim' },
  }
  local lines = { head .. tail }
  if opened then
    local parts = { tool.diff or arguments(tool), tool.output or '' }
    for index, said in ipairs(parts) do
      if said ~= '' then
        barred(lines, marks, said, index == 1 and tool.diff ~= nil)
      end
    end
  end
  return { lines = lines, marks = marks }
end

---@param block singletree.Block
---@param opened boolean
---@param title string
---@return singletree.Drawn
local function folded(block, opened, title)
  local lines = { (opened and '▾ ' or '▸ ') .. title }
  if opened then
    add(lines, text.lines(entries.whole(block)))
  end
  local marks = {}
  paint(marks, lines, 0, 'SingletreeThinking')
  return { lines = lines, marks = marks }
end

---@param question singletree.Question
---@return singletree.Drawn
local function question(question)
  local lines, marks, answers = text.lines('? ' .. question.title), {}, {}
  ---@param more string[]
  ---@param group string
  local function put(more, group)
    local from = #lines
    add(lines, more)
    paint(marks, lines, from, group)
  end
  paint(marks, lines, 0, 'SingletreeQuestion')
  for _, said in ipairs(question.said) do
    put(text.lines(said), 'SingletreeDim')
  end
  if question.diff then
    barred(lines, marks, question.diff, true)
  end
  for _, option in ipairs(question.options) do
    answers[#lines] = option.id
    put({ '  ▹ ' .. text.brief(option.label, 200) }, 'SingletreeOption')
  end
  put({ '  <CR> on a line answers; so does :Singletree answer' }, 'SingletreeDim')
  return { lines = lines, marks = marks, answers = answers }
end

--- A text on a ground of its own.
---@param said string
---@param group string
---@param before string
---@return singletree.Drawn
local function band(said, group, before)
  local lines, marks = text.lines(vim.trim(said)), {}
  marks[1] = { row = 0, group = 'SingletreeTitle', before = before }
  paint(marks, lines, 0, group, true)
  return { lines = lines, marks = marks }
end

---@param said string
---@param group string
---@return singletree.Drawn
local function plain(said, group)
  local lines, marks = text.lines(said), {}
  paint(marks, lines, 0, group)
  return { lines = lines, marks = marks }
end

--- Under what a person wrote: what went along with it.
---@param drawn singletree.Drawn
---@param along string[]|nil
---@return singletree.Drawn
local function with(drawn, along)
  for _, said in ipairs(along or {}) do
    local from = #drawn.lines
    add(drawn.lines, { '  + ' .. text.brief(said, 70) })
    paint(drawn.marks, drawn.lines, from, 'SingletreeDim')
  end
  return drawn
end

---@type table<string, fun(block: singletree.Block, opened: boolean): singletree.Drawn>
local looks = {
  user = function(block)
    return with(band(block.text, 'SingletreeUser', '❯ '), block.along)
  end,
  text = function(block)
    local said = entries.whole(block)
    if block.live then
      return { lines = text.lines(said), marks = {} }
    end
    return { lines = text.lines((said:gsub('%s+$', ''))), marks = {} }
  end,
  thinking = function(block, opened)
    return folded(block, opened, block.live and 'Thinking…' or 'Thought: ' .. text.brief(entries.whole(block), 40))
  end,
  tool = tool_call,
  summary = function(block, opened)
    return folded(block, opened, 'Summary: ' .. text.brief(block.text, 40))
  end,
  notice = function(block)
    local group = ({ error = 'SingletreeError', warn = 'SingletreeWarn' })[block.level] or 'SingletreeDim'
    return plain(block.text, group)
  end,
  queue = function(block)
    local how = block.item.paused and 'paused' or block.item.kind == 'steer' and 'steers' or 'follows'
    return with(band(block.text, 'SingletreeQueue', '⧗ ' .. how .. ': '), block.along)
  end,
  question = function(block)
    return question(block.question)
  end,
  older = function()
    return plain('▸ There is more before this: <CR> shows it', 'SingletreeDim')
  end,
}

--- Blocks of these kinds stand close together.
local close = { tool = true, thinking = true }

--- Whether a line is left free between two blocks.
---@param above singletree.Block|nil
---@param below singletree.Block
---@return boolean
function M.gap(above, below)
  return above ~= nil and not (close[above.kind] and close[below.kind])
end

---@param block singletree.Block
---@param opened boolean
---@return singletree.Drawn
function M.block(block, opened)
  return looks[block.kind](block, opened)
end

return M
