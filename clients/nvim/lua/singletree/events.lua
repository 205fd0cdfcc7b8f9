--- What each event, and each piece of streaming text, does to a store. Pure, as the store is. An event that is
--- not known here is left out, so that the protocol can grow. Read next: store.lua.
local entries = require('singletree.entries')
local text = require('singletree.text')

local M = {}

---@param store singletree.Store
---@param state singletree.SessionState
function M.state(store, state)
  store.cwd = state.cwd
  store.info = {
    phase = state.phase,
    turn = state.turnId,
    model = state.model,
    thinking = state.thinking,
    name = state.name,
    mode = state.mode,
    usage = state.contextUsage,
    leaf = state.leafId,
    trusted = state.trusted,
    readOnly = state.readOnly,
    signs = {},
  }
  M.queue(store, state.queue.items)
end

local NOT_TRUSTED = 'This folder is not trusted, so these are not used: %s. :Singletree trust lets them count.'

--- What the folder brings along and does not count.
---@param store singletree.Store
---@param list singletree.Skipped[]|nil
function M.skipped(store, list)
  local paths = {}
  for _, one in ipairs(list or {}) do
    paths[#paths + 1] = one.path
  end
  if vim.deep_equal(paths, store.skipped) then
    return
  end
  store.skipped = paths
  store:drop('skipped')
  if #paths > 0 then
    store:notice('skipped', 'warn', NOT_TRUSTED:format(table.concat(paths, ', ')))
  end
end

--- The texts that wait, as blocks of the tail.
---@param store singletree.Store
---@param items singletree.QueueItem[]
function M.queue(store, items)
  local keep = {}
  for _, item in ipairs(items) do
    keep['queue:' .. item.queueId] = true
  end
  for _, item in ipairs(store.queue) do
    if not keep['queue:' .. item.queueId] then
      store:drop('queue:' .. item.queueId)
    end
  end
  store.queue = items
  for _, item in ipairs(items) do
    local said, along = entries.own_words(item.content)
    store:put({ id = 'queue:' .. item.queueId, kind = 'queue', text = said, along = along, item = item }, 'tail')
  end
end

---@param error singletree.ErrorInfo|nil
---@return string
function M.told(error)
  if not error then
    return 'It failed.'
  end
  return error.hint and error.message .. '\n' .. error.hint or error.message
end

---@param store singletree.Store
---@param tool table what is known now
---@param entry string|nil
local function tool_call(store, tool, entry)
  store:put({ id = entries.tool_id(tool.id), kind = 'tool', text = '', tool = tool, entry = entry })
end

local ENDS = {
  max_tokens = 'The answer was cut off: too long.',
  max_turns = 'The turn reached its limit of steps.',
  refusal = 'The model refused.',
}

--- The end of a turn that was no good one. The notice its last answer made is said better.
---@param store singletree.Store
---@param event singletree.TurnEndedEvent
local function ended(store, event)
  local said = ENDS[event.reason]
  if event.reason == 'error' then
    local last = store.order[store.body]
    local id = last and last.kind == 'notice' and last.level == 'error' and last.id or 'turn:' .. event.turnId
    store:notice(id, 'error', M.told(event.error))
  elseif event.reason == 'aborted' then
    local last = store.order[store.body]
    if not (last and last.kind == 'notice' and last.text == 'Stopped.') then
      store:notice('turn:' .. event.turnId, 'info', 'Stopped.')
    end
  elseif said then
    store:notice('turn:' .. event.turnId, 'warn', said)
  end
end

---@param store singletree.Store
---@param event singletree.RetryEvent
local function retry(store, event)
  if event.status == 'waiting' then
    local said = ('Again in %.0f s (%d of %d): %s'):format(
      event.delayMs / 1000,
      event.attempt,
      event.max,
      event.error and event.error.message or ''
    )
    store:put({ id = 'retry', kind = 'notice', level = 'warn', text = said }, 'tail')
  else
    store:drop('retry')
  end
end

---@param store singletree.Store
---@param event singletree.CompactionEvent
local function compaction(store, event)
  if event.status == 'started' then
    store:put({ id = 'compaction', kind = 'notice', level = 'info', text = 'Summing up…' }, 'tail')
    return
  end
  store:drop('compaction')
  if event.status == 'failed' then
    store:notice('compaction:' .. event.id, 'error', M.told(event.error))
  end
end

---@type table<string, fun(store: singletree.Store, event: table)>
local does = {
  state = function(store, event)
    store.info.phase, store.info.turn = event.phase, event.turnId
  end,
  turn_ended = ended,
  entry = function(store, event)
    if event.entry.parentId == store.info.leaf then
      store:entry(event.entry)
    else
      store.stale = true -- it goes on from elsewhere
    end
  end,
  leaf = function(store, event)
    store.info.leaf = event.leafId
    store.stale = store.stale or event.cause == 'navigate'
  end,
  item_started = function(store, event)
    if event.kind == 'tool' then
      if event.toolCallId then
        local tool = { id = event.toolCallId, name = event.name or 'tool', status = 'streaming' }
        tool_call(store, tool, event.itemId)
      end
      return
    end
    local id = entries.part_id(event.itemId, event.part)
    store:put({ id = id, kind = event.kind, text = '', live = true, entry = event.itemId })
  end,
  item_ended = function(store, event)
    if event.kind == 'tool' then
      return -- the call has its own events, and its entry
    end
    local whole = event.content and entries.part(event.itemId, event.part, event.content)
    if whole and whole.text ~= '' then
      whole.live, whole.cut = false, event.cut
      store:put(whole)
    else
      store:drop(entries.part_id(event.itemId, event.part))
    end
  end,
  tool = function(store, event)
    local tool = { id = event.toolCallId }
    for _, key in ipairs({ 'status', 'name', 'title', 'input', 'diff', 'durationMs', 'locations', 'cut' }) do
      tool[key] = event[key]
    end
    if event.result then
      tool.output = text.of(event.result.content)
      tool.failed = event.result.isError
    end
    tool.whole = event.truncation and event.truncation.fullOutputUri
    tool_call(store, tool, event.itemId)
  end,
  queue = function(store, event)
    M.queue(store, event.items)
  end,
  compaction = compaction,
  retry = retry,
  usage = function(store, event)
    store.info.usage = event.contextUsage
  end,
  config = function(store, event)
    local info = store.info
    info.model, info.thinking, info.name, info.mode = event.model, event.thinking, event.name, event.mode
    info.trusted = event.trusted
    M.skipped(store, event.skipped)
  end,
  permission = function(store, event)
    if event.status ~= 'open' then
      store:answered(event.requestId)
    end
  end,
  warning = function(store, event)
    store:notice('warning:' .. store.cursor.seq, 'warn', event.message)
  end,
  extension_error = function(store, event)
    store:notice('extension:' .. store.cursor.seq, 'warn', event.extension .. ': ' .. event.message)
  end,
}

---@param store singletree.Store
---@param event table
function M.handle(store, event)
  local act = does[event.type]
  if act then
    act(store, event)
  end
  store:tell({ op = 'info' })
end

--- Of the output of a running tool this much is kept; the whole comes with its result.
local KEPT = 65536

---@param output string
---@return string
local function last_of(output)
  if #output <= KEPT then
    return output
  end
  local cut = output:find('\n', -KEPT, true)
  return output:sub(cut and cut + 1 or -KEPT)
end

--- More text of something that streams.
---@param store singletree.Store
---@param delta singletree.DeltaParams|singletree.InFlight
function M.grow(store, delta)
  local block ---@type singletree.Block|nil
  if delta.kind == 'text' or delta.kind == 'thinking' then
    block = store:get(entries.part_id(delta.itemId, delta.part))
    if block then
      block.pieces = block.pieces or { block.text }
      table.insert(block.pieces, delta.text)
    end
  elseif delta.kind == 'toolOutput' or delta.kind == 'bashOutput' then
    local id = entries.tool_id(delta.itemId)
    if not store:get(id) then
      tool_call(store, { id = delta.itemId, name = 'bash', status = 'running' })
    end
    block = assert(store:get(id))
    block.tool.output = last_of((block.tool.output or '') .. delta.text)
  end
  if block then
    store:tell({ op = 'append', block = block, text = delta.text })
  end
end

--- What streamed before this client came.
---@param store singletree.Store
---@param streaming singletree.InFlight
function M.in_flight(store, streaming)
  local kind = streaming.kind
  if kind == 'text' or kind == 'thinking' then
    local id = entries.part_id(streaming.itemId, streaming.part)
    store:put({ id = id, kind = kind, text = '', live = true, entry = streaming.itemId })
  elseif kind == 'toolArgs' and streaming.toolCallId then
    local tool = { id = streaming.toolCallId, name = streaming.name or 'tool', status = 'streaming' }
    tool_call(store, tool, streaming.itemId)
  end
  M.grow(store, streaming)
  store:hear(streaming)
end

--- A sign of an extension: its status and title stand beside the transcript, a widget behind it, a notice in it.
---@param store singletree.Store
---@param sign singletree.UiUpdateParams
function M.sign(store, sign)
  local payload = sign.payload
  if sign.kind == 'status' then
    store.info.signs[sign.key] = payload
  elseif sign.kind == 'title' then
    store.info.title = payload
  elseif sign.kind == 'widget' then
    local id = 'widget:' .. sign.key
    if payload then
      local said = type(payload) == 'table' and table.concat(payload, '\n') or tostring(payload)
      store:put({ id = id, kind = 'notice', level = 'info', text = said }, 'tail')
    else
      store:drop(id)
    end
  elseif sign.kind == 'notice' and payload then
    store.signs = store.signs + 1
    store:notice('notice:' .. store.signs, 'info', tostring(payload))
  end
  store:tell({ op = 'info' })
end

return M
