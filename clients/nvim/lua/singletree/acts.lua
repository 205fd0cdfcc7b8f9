--- What a person does with a conversation: says something, stops it, goes elsewhere in the tree, answers. Keys and
--- commands call these. Read next: chat.lua.
local client = require('singletree.client')
local config = require('singletree.config')
local context = require('singletree.context')
local documents = require('singletree.documents')
local say = require('singletree.say')
local text = require('singletree.text')

local M = {}

--- A name for a message, so that it is said once even if it is sent twice.
---@param chat singletree.Chat
---@return string
local function message_id(chat)
  chat.made = chat.made + 1
  return ('%s-%d-%d'):format(vim.uv.os_getpid(), vim.uv.hrtime(), chat.made)
end

--- Send a text: a turn of its own, into the running turn, or behind it. What cannot be sent comes back.
---@param chat singletree.Chat
---@param said string
---@param how 'prompt'|'steer'|'followUp'
---@param more? table further params
function M.send(chat, said, how, more)
  if vim.trim(said) == '' then
    return
  end
  chat:open(function()
    local content = context.content(said, chat.root, more and more.blocks)
    local params = { content = content, clientMessageId = message_id(chat) }
    if how == 'prompt' then
      params.whenBusy = 'steer'
      params.context = more and more.context
    end
    chat:ask('agent/' .. how, params, function(error, result)
      if error then
        chat.input:give_back(said)
        chat:tell('error', say.told(error))
        return
      end
      chat.input:save()
      if result.note then
        chat:tell('info', result.note)
      end
    end)
  end)
end

--- Send what stands in the prompt buffer; while a turn runs it steers, unless it is to follow.
---@param chat singletree.Chat
---@param how? 'prompt'|'steer'|'followUp'
---@param more? table
function M.submit(chat, how, more)
  local said = chat.input:text()
  if vim.trim(said) == '' then
    return
  end
  if not client.ready() or not chat.store.session then
    chat:open(function()
      M.submit(chat, how, more)
    end)
    return
  end
  chat.input:take()
  if chat.along then
    more = vim.tbl_extend('force', more or {}, { blocks = chat.along.blocks })
    chat.along = nil
  end
  M.send(chat, said, how or (chat:running() and 'steer' or 'prompt'), more)
end

--- Stop the turn; texts that waited come back into the prompt buffer.
---@param chat singletree.Chat
function M.stop(chat)
  chat:ask('agent/abort', { scope = 'turn', queue = 'return' }, chat:then_do(function(result)
    local texts = {}
    for _, item in ipairs(result.queue or {}) do
      texts[#texts + 1] = text.of(vim.tbl_filter(function(block)
        return not block.context -- the editor added it, and will again
      end, item.content))
    end
    if #texts > 0 then
      chat.input:give_back(table.concat(texts, '\n\n'))
    end
  end))
end

--- Go on from another entry. A person's message comes back into the prompt buffer.
---@param chat singletree.Chat
---@param entry string
---@param summarize boolean|table
---@param after? fun()
function M.navigate(chat, entry, summarize, after)
  if summarize then
    chat:tell('info', 'Summing up the branch that is left… :Singletree stop gives it up.')
  end
  local params = { entryId = entry, summarize = summarize, expectedLeafId = chat.store.info.leaf }
  local shown = chat.store:get(entry)
  local own = shown and shown.kind == 'user' and shown.text or nil -- without what went along with it
  chat.cancel = chat:ask('agent/tree/navigate', params, chat:then_do(function(result)
    if result.editorText then
      chat.input:give_back(own or result.editorText)
    end
    if after then
      after()
    end
  end))
end

---@param chat singletree.Chat
---@param instructions? string
function M.compact(chat, instructions)
  chat.cancel = chat:ask('agent/compact', { instructions = instructions }, chat:then_do(function(result)
    local after = result.tokensAfterEstimate
    chat:tell('info', ('Summed up: %d tokens became about %d.'):format(result.tokensBefore, after))
  end))
end

--- Another session in this workspace.
---@param chat singletree.Chat
---@param method string
---@param params table
function M.become(chat, method, params)
  params.history = method ~= 'agent/session/new' and { limit = config.now.history } or nil
  client.request(method, params, chat:then_do(function(attached)
    chat:take(attached)
  end))
end

--- Go on in a copy of this session.
---@param chat singletree.Chat
---@param entry string
---@param position 'before'|'at'
function M.fork(chat, entry, position)
  chat:ask('agent/session/fork', { entryId = entry, position = position }, chat:then_do(function(forked)
    if forked.editorText then
      chat.input:give_back(forked.editorText)
    end
    M.become(chat, 'agent/session/switch', { sessionId = forked.sessionId })
  end))
end

--- Take back what the last turn changed in files.
---@param chat singletree.Chat
function M.undo(chat)
  chat:ask('agent/edits/list', {}, chat:then_do(function(list)
    local turn ---@type string|nil
    for _, edit in ipairs(list.edits) do
      turn = not edit.undone and edit.turnId or turn
    end
    if not turn then
      chat:tell('info', 'There is no edit to take back.')
      return
    end
    chat:ask('agent/edits/revert', { turnId = turn }, chat:then_do(function(done)
      local count = #done.reverted
      local lines = { ('%d %s taken back.'):format(count, count == 1 and 'edit' or 'edits') }
      for _, refused in ipairs(done.refused) do
        lines[#lines + 1] = refused.message
      end
      chat:tell(#done.refused > 0 and 'warn' or 'info', table.concat(lines, '\n'))
      documents.look_again()
    end))
  end))
end

--- The page of history before the first one that is shown.
---@param chat singletree.Chat
function M.older(chat)
  local before = chat.store.before
  if before then
    chat:ask('agent/session/entries', { before = before, limit = 200, branch = 'active' }, chat:then_do(function(page)
      if chat.store.before == before then
        chat.store:older(page.entries, page.next)
        chat:draw()
      end
    end))
  end
end

return M
