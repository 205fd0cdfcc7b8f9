--- What a statusline and the winbar of the transcript say: phase, model, how full the window is, what waits.
local chats = require('singletree.chat')
local client = require('singletree.client')
local face = require('singletree')

local M = {}

local PHASES = {
  idle = '○ idle',
  running = '● running',
  requires_action = '? asks you',
  compacting = '◐ sums up',
  retrying = '↻ tries again',
}

---@param usage singletree.ContextUsage|nil
---@return string|nil
local function meter(usage)
  if not usage or not usage.window or usage.window == 0 then
    return nil
  end
  local full = usage.percent and ('%.0f%%'):format(usage.percent) or '?'
  return ('%s of %dk'):format(full, math.floor(usage.window / 1000))
end

--- The parts that say how a conversation stands.
---@param chat singletree.Chat
---@return string[]
function M.parts(chat)
  local info = chat.store.info
  if not client.ready() or not chat.store.session then
    return { client.get() and '◌ connects' or '○ not connected' }
  end
  local parts = { PHASES[info.phase] or info.phase }
  local asked, queued = #chat.store:questions(), #chat.store.queue
  parts[#parts + 1] = asked > 1 and asked .. ' questions' or nil
  parts[#parts + 1] = queued > 0 and queued .. ' waiting' or nil
  parts[#parts + 1] = meter(info.usage)
  parts[#parts + 1] = info.model and vim.fs.basename(info.model) or 'no model'
  parts[#parts + 1] = info.thinking and info.thinking ~= 'off' and info.thinking or nil
  parts[#parts + 1] = info.readOnly and 'read only' or nil
  parts[#parts + 1] = info.mode and info.mode ~= 'ask' and info.mode or nil
  for _, key in ipairs(vim.fn.sort(vim.tbl_keys(info.signs))) do
    parts[#parts + 1] = tostring(info.signs[key])
  end
  return parts
end

---@param said string
---@return string
local function plain(said)
  return (said:gsub('%%', '%%%%'):gsub('%c', ' '))
end

---@param number integer
---@return singletree.Chat|nil
local function numbered(number)
  return chats.find(function(chat)
    return chat.number == number
  end)
end

--- The winbar of a transcript.
---@param number integer
---@return string
function M.bar(number)
  local chat = numbered(number)
  if not chat then
    return ''
  end
  local name = chat.store.info.title or chat.store.info.name or vim.fs.basename(chat.root)
  return ' %#SingletreeTitle#' .. plain(name) .. '%* ' .. plain(table.concat(M.parts(chat), ' · ')) .. '%<'
end

--- The statusline of a prompt: what goes along with it.
---@param number integer
---@return string
function M.along(number)
  local chat = numbered(number)
  if chat and chat.along then -- what goes along matters more than the keys
    return ' prompt + ' .. plain(chat.along.name) .. '%<%=g? keys '
  end
  return ' %<prompt%=<C-s> sends · <C-c> stops · g? keys '
end

--- For a statusline: the conversation of the current workspace, or nothing while there is none.
---@return string
function M.line()
  local chat = face.current(true)
  return chat and plain(table.concat(M.parts(chat), ' · ')) or ''
end

--- Colours that follow the person's colour scheme.
function M.colours()
  local links = {
    SingletreeUser = 'CursorLine',
    SingletreeTool = 'Normal',
    SingletreeOutput = 'Normal',
    SingletreeDim = 'Comment',
    SingletreeThinking = 'Comment',
    SingletreeDone = 'DiagnosticOk',
    SingletreeRunning = 'DiagnosticInfo',
    SingletreeFailed = 'DiagnosticError',
    SingletreeError = 'DiagnosticError',
    SingletreeWarn = 'DiagnosticWarn',
    SingletreeQuestion = 'Title',
    SingletreeOption = 'Special',
    SingletreeQueue = 'ColorColumn',
    SingletreeTitle = 'Title',
    SingletreeLeaf = 'DiagnosticOk',
    SingletreeLabel = 'Special',
  }
  for group, link in pairs(links) do
    vim.api.nvim_set_hl(0, group, { link = link, default = true })
  end
end

return M
