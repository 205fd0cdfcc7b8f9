--- How a block looks: lines, and which parts of them are lit how. Pure: it knows neither buffers nor windows.
--- Read next: transcript.lua, which puts them on the screen.
local entries = require('singletree.entries')
local text = require('singletree.text')

local M = {}

--- As many lines of arguments, of a diff and of an output stand in the transcript; `go` opens the whole.
M.SHOWN = 200

--- A stretch of the lines in a highlight group; rows count from 0. No `stop`: to the end of the row's line.
---@class singletree.Mark
---@field row integer
---@field col integer
---@field stop? integer
---@field rows? integer whole lines, as many
---@field group string
---@field say? string a word at the right end of the line

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

--- A text within a fence, cut where it becomes too long.
---@param lines string[]
---@param said string
---@param language string
local function fenced(lines, said, language)
  local shown, more = text.head(said, M.SHOWN)
  local fence = text.fence(shown)
  lines[#lines + 1] = fence .. language
  add(lines, shown)
  lines[#lines + 1] = fence
  if more > 0 then
    lines[#lines + 1] = ('… %d lines more: go shows all'):format(more)
  end
end

--- The arguments of a call as a person reads them.
---@param tool singletree.Tool
---@return string said, string language
local function arguments(tool)
  local input = tool.input or {}
  if type(input.command) == 'string' and vim.tbl_count(input) == 1 then
    return input.command, 'sh'
  end
  local lines = {}
  local keys = vim.tbl_keys(input)
  table.sort(keys)
  for _, key in ipairs(keys) do
    local value = input[key]
    lines[#lines + 1] = key .. ': ' .. (type(value) == 'string' and value or vim.json.encode(value))
  end
  return table.concat(lines, '\n'), ''
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
  facts[#facts + 1] = tool.durationMs and duration(tool.durationMs) or nil
  facts[#facts + 1] = (tool.status == 'rejected' or tool.status == 'cancelled') and tool.status or nil
  local tail = #facts > 0 and '  ' .. table.concat(facts, ' · ') or ''
  local sign = #'▸ '
  local marks = {
    { row = 0, col = 0, stop = #head, group = 'SingletreeTool' },
    { row = 0, col = sign, stop = sign + #status.sign, group = status.group },
    { row = 0, col = #head, stop = #head + #tail, group = 'SingletreeDim' },
  }
  local lines = { head .. tail }
  if opened then
    local said, language = arguments(tool)
    if said ~= '' and not tool.diff then
      fenced(lines, said, language)
    end
    if tool.diff and tool.diff ~= '' then
      fenced(lines, tool.diff, 'diff')
    end
    if tool.output and tool.output ~= '' then
      fenced(lines, tool.output, '')
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
  return { lines = lines, marks = { { row = 0, col = 0, rows = #lines, group = 'SingletreeThinking' } } }
end

---@param question singletree.Question
---@return singletree.Drawn
local function question(question)
  local lines = text.lines('? ' .. question.title)
  local marks = { { row = 0, col = 0, rows = #lines, group = 'SingletreeQuestion' } }
  for _, said in ipairs(question.said) do
    local from = #lines
    add(lines, text.lines(said))
    marks[#marks + 1] = { row = from, col = 0, rows = #lines - from, group = 'SingletreeDim' }
  end
  if question.diff then
    fenced(lines, question.diff, 'diff')
  end
  local answers = {}
  for _, option in ipairs(question.options) do
    answers[#lines] = option.id
    marks[#marks + 1] = { row = #lines, col = 0, rows = 1, group = 'SingletreeOption' }
    lines[#lines + 1] = '  ▹ ' .. text.brief(option.label, 200)
  end
  marks[#marks + 1] = { row = #lines, col = 0, rows = 1, group = 'SingletreeDim' }
  lines[#lines + 1] = '  <CR> on a line answers; so does :Singletree answer'
  return { lines = lines, marks = marks, answers = answers }
end

---@param lines string[]
---@param group string
---@param say? string
---@return singletree.Drawn
local function band(lines, group, say)
  return { lines = lines, marks = { { row = 0, col = 0, rows = #lines, group = group, say = say } } }
end

---@type table<string, fun(block: singletree.Block, opened: boolean): singletree.Drawn>
local looks = {
  user = function(block)
    local drawn = band(text.lines(vim.trim(block.text)), 'SingletreeUser', 'you')
    for _, said in ipairs(block.along or {}) do
      drawn.marks[#drawn.marks + 1] = { row = #drawn.lines, col = 0, rows = 1, group = 'SingletreeDim' }
      drawn.lines[#drawn.lines + 1] = '+ ' .. text.brief(said, 70)
    end
    return drawn
  end,
  text = function(block)
    local said = entries.whole(block)
    if block.live then
      return { lines = text.lines(said), marks = {} }
    end
    local lines = text.lines((said:gsub('%s+$', '')))
    lines[#lines + 1] = text.open_fence(lines)
    return { lines = lines, marks = {} }
  end,
  thinking = function(block, opened)
    return folded(block, opened, block.live and 'Thinking…' or 'Thought: ' .. text.brief(entries.whole(block), 60))
  end,
  tool = tool_call,
  summary = function(block, opened)
    return folded(block, opened, 'Summary: ' .. text.brief(block.text, 60))
  end,
  notice = function(block)
    local group = ({ error = 'SingletreeError', warn = 'SingletreeWarn' })[block.level] or 'SingletreeDim'
    return band(text.lines(block.text), group)
  end,
  queue = function(block)
    local how = block.item.paused and 'paused' or block.item.kind == 'steer' and 'steers' or 'follows'
    return band(text.lines(vim.trim(block.text)), 'SingletreeQueue', how)
  end,
  question = function(block)
    return question(block.question)
  end,
  older = function()
    return band({ '▸ There is more before this: <CR> shows it' }, 'SingletreeDim')
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
