--- What an entry of a session is on the screen: the blocks that it stands for. Pure: a record in, blocks
--- out. The same for a page of history and for an entry that has just come. Read next: store.lua.
local text = require('singletree.text')

local M = {}

--- A piece of the transcript. `text` is what was said; a tool call has its own fields.
---@class singletree.Block
---@field id string
---@field kind 'user'|'text'|'thinking'|'tool'|'summary'|'notice'|'question'|'queue'|'older'
---@field text string
---@field entry? string the entry it stands for
---@field level? 'error'|'warn'|'info' of a notice
---@field live? boolean more of it is to come
---@field pieces? string[] what has come of it while it streams; see `whole`
---@field tool? singletree.Tool
---@field question? singletree.Question
---@field item? singletree.QueueItem
---@field cut? string it is shortened; where the whole can be read
---@field along? string[] what went along with a person's words

--- A tool call as far as it is known.
---@class singletree.Tool
---@field id string
---@field name string
---@field title? string
---@field status singletree.ToolStatus
---@field input? table<string, any>
---@field diff? string
---@field output? string
---@field failed? boolean
---@field durationMs? integer
---@field locations? singletree.FileLocation[]
---@field cut? string where the whole of it can be read
---@field whole? string where the whole output can be read

--- The text of a block, also of one that streams.
---@param block singletree.Block
---@return string
function M.whole(block)
  if block.pieces then
    block.text, block.pieces = table.concat(block.pieces), nil
  end
  return block.text
end

---@param id string
---@return string
function M.tool_id(id)
  return 'tool:' .. id
end

---@param id string
---@param part integer
---@return string
function M.part_id(id, part)
  return id .. '/' .. part
end

--- What a stored part of an answer is; nil for one that cannot be shown.
---@param entry string
---@param part integer
---@param block table
---@return singletree.Block|nil
function M.part(entry, part, block)
  local id = M.part_id(entry, part)
  if block.type == 'text' then
    return { id = id, kind = 'text', text = block.text, entry = entry }
  elseif block.type == 'thinking' then
    local said = block.redacted and '(not shown by the provider)' or block.thinking
    return { id = id, kind = 'thinking', text = said, entry = entry }
  elseif block.type == 'toolCall' then
    local tool = { id = block.id, name = block.name, input = block.arguments }
    return { id = M.tool_id(block.id), kind = 'tool', text = '', entry = entry, tool = tool }
  end
end

---@param entry table
---@param blocks singletree.Block[]
local function answer(entry, blocks)
  local message = entry.message
  for index, block in ipairs(message.content or {}) do
    local made = M.part(entry.id, index - 1, block)
    if made and not (made.kind ~= 'tool' and made.text == '') then
      blocks[#blocks + 1] = made
    end
  end
  if message.stopReason == 'error' or message.stopReason == 'aborted' then
    local aborted = message.stopReason == 'aborted'
    blocks[#blocks + 1] = {
      id = entry.id .. '/end',
      kind = 'notice',
      level = aborted and 'info' or 'error',
      text = aborted and 'Stopped.' or message.errorMessage or 'The model failed.',
      entry = entry.id,
    }
  end
end

---@param entry table
---@return singletree.Block
local function result(entry)
  local message = entry.message
  local details = type(message.details) == 'table' and message.details or {}
  local tool = {
    id = message.toolCallId,
    name = message.toolName,
    status = message.isError and 'failed' or 'completed',
    output = text.of(message.content),
    failed = message.isError,
    diff = type(details.diff) == 'string' and details.diff or nil,
  }
  return { id = M.tool_id(tool.id), kind = 'tool', text = '', tool = tool }
end

---@param entry table
---@return singletree.Block
local function command(entry)
  local message = entry.message
  local failed = message.cancelled or (message.exitCode or 0) ~= 0
  local tool = {
    id = entry.id,
    name = 'bash',
    title = '! ' .. message.command,
    status = message.cancelled and 'cancelled' or failed and 'failed' or 'completed',
    output = message.output,
  }
  return { id = M.tool_id(entry.id), kind = 'tool', text = '', entry = entry.id, tool = tool }
end

--- What a person wrote, and what went along with it: a selection, the file in front of them.
---@param content string|table[]
---@return string said, string[] along
function M.own_words(content)
  if type(content) == 'string' then
    return content, {}
  end
  local said, along ---@type string|nil, string[]
  along = {}
  for _, block in ipairs(content) do
    if block.type == 'text' and not said then
      said = block.text
    else
      along[#along + 1] = text.of({ block })
    end
  end
  return said or '', along
end

--- How each role of a message is shown.
---@type table<string, fun(entry: table, blocks: singletree.Block[])>
local roles = {
  user = function(entry, blocks)
    local said, along = M.own_words(entry.message.content)
    blocks[1] = { id = entry.id, kind = 'user', text = said, along = along, entry = entry.id }
  end,
  assistant = answer,
  toolResult = function(entry, blocks)
    blocks[1] = result(entry)
  end,
  bashExecution = function(entry, blocks)
    blocks[1] = command(entry)
  end,
}

---@param entry table
---@param level string
---@param said string
---@return singletree.Block[]
local function notice(entry, level, said)
  return { { id = entry.id, kind = 'notice', level = level, text = said, entry = entry.id } }
end

---@param entry table
---@return singletree.Block[]
local function summary(entry)
  return { { id = entry.id, kind = 'summary', text = entry.summary, entry = entry.id } }
end

--- How each type of entry is shown; one that is not here is not.
---@type table<string, fun(entry: table): singletree.Block[]>
local types = {
  message = function(entry)
    local blocks = {}
    local show = roles[entry.message.role]
    if show then
      show(entry, blocks)
    end
    return blocks
  end,
  compaction = summary,
  branch_summary = summary,
  custom_message = function(entry)
    return entry.display and notice(entry, 'info', text.of(entry.content)) or {}
  end,
  model_change = function(entry)
    return notice(entry, 'info', 'Model: ' .. entry.provider .. '/' .. entry.modelId)
  end,
  thinking_level_change = function(entry)
    return notice(entry, 'info', 'Thinking: ' .. entry.thinkingLevel)
  end,
}

--- The blocks of an entry, in their order.
---@param entry singletree.Entry
---@return singletree.Block[]
function M.blocks(entry)
  local show = types[entry.type]
  return show and show(entry) or {}
end

return M
