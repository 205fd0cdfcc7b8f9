--- One conversation: the session of a workspace, its transcript and its prompt. Everything a person does with
--- it is a method here; keys and commands only call them. Read next: store.lua, transcript.lua, keys.lua.
local client = require('singletree.client')
local config = require('singletree.config')
local documents = require('singletree.documents')
local layout = require('singletree.layout')
local questions = require('singletree.questions')
local say = require('singletree.say')

---@class singletree.Chat
---@field root string the workspace
---@field number integer which conversation of this Neovim it is
---@field uri string
---@field store singletree.Store
---@field transcript singletree.Transcript
---@field input singletree.Input
---@field along? { name: string, blocks: table[] } goes along with what is said next
---@field cancel? fun() gives up the summary that is being made
---@field private made integer messages sent from here
local Chat = {}
Chat.__index = Chat

local M = {}

--- All conversations, by their workspace.
---@type table<string, singletree.Chat>
M.all = {}

local CANCELLED = require('singletree.protocol').ErrorNumber.RequestCancelled

local BAR = "%%{%%v:lua.require'singletree.status'.%s(%d)%%}"

---@param root string
---@return singletree.Chat
function M.of(root)
  local known = M.all[root]
  if known then
    return known
  end
  local store = require('singletree.store').new()
  local chat = setmetatable({ root = root, uri = vim.uri_from_fname(root), store = store, made = 0 }, Chat)
  local name = 'singletree://' .. root
  chat.transcript = require('singletree.transcript').new(store, name .. '/transcript')
  chat.input = require('singletree.input').new(root, name .. '/prompt', function()
    return store:said()
  end)
  chat.number = vim.tbl_count(M.all) + 1
  M.all[root] = chat
  return chat
end

---@param fits fun(chat: singletree.Chat): boolean
---@return singletree.Chat|nil
function M.find(fits)
  for _, chat in pairs(M.all) do
    if fits(chat) then
      return chat
    end
  end
end

---@param session string
---@return singletree.Chat|nil
function M.by_session(session)
  return M.find(function(chat)
    return chat.store.session == session
  end)
end

--- Show both windows in this tab and stand in the prompt; the session is opened if it is not.
function Chat:show()
  local buf, made = self.transcript:ensure()
  local input, fresh = self.input:ensure()
  local keys = require('singletree.keys')
  if made then
    keys.transcript(self, buf)
  end
  if fresh then
    keys.prompt(self, input)
  end
  local bars = { above = BAR:format('bar', self.number), below = BAR:format('along', self.number) }
  if not layout.open(buf, input, bars) then
    say.say('singletree: there is no room for both windows here.', vim.log.levels.WARN)
  end
  self:open()
end

function Chat:hide()
  self.input:save()
  layout.close({ self.input.buf, self.transcript.buf })
end

--- Show the windows in this tab, or close them.
function Chat:toggle()
  if layout.window(self.transcript.buf) or layout.window(self.input.buf) then
    self:hide()
  else
    self:show()
  end
end

--- The person reloads one of our buffers (`:edit`).
---@param buf integer
function Chat:read_again(buf)
  if buf == self.transcript.buf and self.store.session then
    self.transcript:reset()
    self:reload()
  end
end

---@param envelope singletree.EventParams
function Chat:event(envelope)
  if not self.store:event(envelope) then
    self:reload()
    return
  end
  local event = envelope.event
  if event.type == 'tool' and event.status == 'completed' or event.type == 'edits' then
    documents.look_again()
  end
  if event.type == 'permission' and event.status ~= 'open' then
    self:resolved(event.requestId)
  end
  self:draw()
end

--- An extension shows something small.
---@param sign singletree.UiUpdateParams
function Chat:sign(sign)
  if sign.kind == 'editorText' and sign.payload then
    self.input:give_back(tostring(sign.payload))
  end
  require('singletree.events').sign(self.store, sign)
  self:draw()
end

--- A question has its answer from elsewhere, or was taken back.
---@param request string
function Chat:resolved(request)
  questions.withdraw(request)
  self.store:answered(request)
  self:draw()
end

--- The daemon is gone.
---@param reason string
function Chat:lost(reason)
  for _, question in ipairs(self.store:questions()) do
    self.store:answered(question.requestId)
  end
  self.store.info.phase = 'idle'
  self:tell('error', reason)
end

--- The daemon is there again.
function Chat:back()
  if self.store.session then
    self:attach()
  end
end

--- Draw what the store has to tell.
function Chat:draw()
  local changes = self.store:take()
  if #changes > 0 then
    self.transcript:apply(changes)
    vim.cmd.redrawstatus({ bang = true })
  end
  if self.store.stale then
    self:reload()
  end
end

--- A line of ours in the transcript.
---@param level 'error'|'warn'|'info'
---@param said string
function Chat:tell(level, said)
  self.made = self.made + 1
  self.store:notice('ours:' .. self.made, level, said)
  self:draw()
  local seen = layout.window(self.transcript.buf)
  if level == 'error' and not seen then
    say.say('singletree: ' .. said, vim.log.levels.ERROR)
  end
end

--- What is done with an answer; an error is told in the transcript.
---@param act? fun(result: any)
---@return singletree.Answer
function Chat:then_do(act)
  return function(error, result)
    if error then
      self:tell(error.code == CANCELLED and 'info' or 'error', say.told(error))
    elseif act then
      act(result)
    end
  end
end

--- Ask the daemon something of this session.
---@param method string
---@param params table
---@param answer? singletree.Answer
---@return fun() cancel
function Chat:ask(method, params, answer)
  params = vim.tbl_extend('keep', params, { sessionId = self.store.session })
  return client.request(method, params, answer or self:then_do())
end

---@param attached singletree.Attached
function Chat:take(attached)
  local before = self.store.session
  if before and before ~= attached.sessionId then
    client.request('agent/session/detach', { sessionId = before }, function() end)
  end
  local open = self.store:questions()
  self.store:snapshot(attached)
  for _, question in ipairs(open) do
    if question.sessionId == attached.sessionId and self:pending(attached, question.requestId) then
      self.store:ask(question)
    end
  end
  self.store.changes = { { op = 'reset' } }
  self:draw()
end

---@param attached singletree.Attached
---@param request string
---@return boolean
function Chat:pending(attached, request)
  for _, one in ipairs(attached.pending) do
    if one.requestId == request then
      return true
    end
  end
  return false
end

--- Open the session of the workspace, or come back to the one that was shown here.
---@param after? fun()
function Chat:open(after)
  if self.store.session and client.ready() then
    if after then
      after()
    end
    return
  end
  client.start(function(error)
    if error then
      self:tell('error', error.message)
      return
    end
    self:attach(after)
  end)
end

---@private
---@param after? fun()
function Chat:attach(after)
  local params = { history = { limit = config.now.history } }
  if self.store.session then
    params.sessionId = self.store.session
    params.cwd = self.root
  else
    params.workspace = self.uri
  end
  client.request('agent/session/open', params, function(error, attached)
    if error and params.sessionId then
      self.store.session = nil -- it had no file yet, or is gone: the newest one of the folder, then
      self:attach(after)
    elseif error then
      self:tell('error', say.told(error))
    else
      self:take(attached)
      if after then
        after()
      end
    end
  end)
end

--- Everything anew from the daemon.
function Chat:reload()
  self.store.stale = false
  self:ask('agent/session/attach', { history = { limit = config.now.history } }, self:then_do(function(attached)
    self:take(attached)
  end))
end

--- The page of history before the first one that is shown.
function Chat:older()
  local before = self.store.before
  if before then
    self:ask('agent/session/entries', { before = before, limit = 200, branch = 'active' }, self:then_do(function(page)
      if self.store.before == before then
        self.store:older(page.entries, page.next)
        self:draw()
      end
    end))
  end
end

---@return boolean
function Chat:running()
  return self.store.info.phase ~= 'idle'
end

--- A name for a message, so that it is said once even if it is sent twice.
---@return string
function Chat:message_id()
  self.made = self.made + 1
  return ('%s-%d-%d'):format(vim.uv.os_getpid(), vim.uv.hrtime(), self.made)
end

--- Send a text: a turn of its own, into the running turn, or behind it. What cannot be sent comes back.
---@param said string
---@param how 'prompt'|'steer'|'followUp'
---@param more? table further params
function Chat:send(said, how, more)
  if vim.trim(said) == '' then
    return
  end
  self:open(function()
    local content = require('singletree.context').content(said, self.root, more and more.blocks)
    local params = { content = content, clientMessageId = self:message_id() }
    if how == 'prompt' then
      params.whenBusy = 'steer'
      params.context = more and more.context
    end
    self:ask('agent/' .. how, params, function(error, result)
      if error then
        self.input:give_back(said)
        self:tell('error', say.told(error))
        return
      end
      self.input:save()
      if result.note then
        self:tell('info', result.note)
      end
    end)
  end)
end

--- Send what stands in the prompt buffer; while a turn runs it steers, unless it is to follow.
---@param how? 'prompt'|'steer'|'followUp'
---@param more? table
function Chat:submit(how, more)
  local said = self.input:text()
  if vim.trim(said) == '' then
    return
  end
  if not client.ready() or not self.store.session then
    self:open(function()
      self:submit(how, more)
    end)
    return
  end
  self.input:take()
  if self.along then
    more = vim.tbl_extend('force', more or {}, { blocks = self.along.blocks })
    self.along = nil
  end
  self:send(said, how or (self:running() and 'steer' or 'prompt'), more)
end

--- Stop the turn; texts that waited come back into the prompt buffer.
function Chat:stop()
  self:ask('agent/abort', { scope = 'turn', queue = 'return' }, self:then_do(function(result)
    local texts = {}
    for _, item in ipairs(result.queue or {}) do
      texts[#texts + 1] = require('singletree.text').of(item.content)
    end
    if #texts > 0 then
      self.input:give_back(table.concat(texts, '\n\n'))
    end
  end))
end

--- Go on from another entry. A person's message comes back into the prompt buffer.
---@param entry string
---@param summarize boolean|table
---@param after? fun()
function Chat:navigate(entry, summarize, after)
  if summarize then
    self:tell('info', 'Summing up the branch that is left… :Singletree stop gives it up.')
  end
  local params = { entryId = entry, summarize = summarize, expectedLeafId = self.store.info.leaf }
  local shown = self.store:get(entry)
  local own = shown and shown.kind == 'user' and shown.text or nil -- without what went along with it
  self.cancel = self:ask('agent/tree/navigate', params, self:then_do(function(result)
    if result.editorText then
      self.input:give_back(own or result.editorText)
    end
    if after then
      after()
    end
  end))
end

---@param instructions? string
function Chat:compact(instructions)
  self.cancel = self:ask('agent/compact', { instructions = instructions }, self:then_do(function(result)
    local after = result.tokensAfterEstimate
    self:tell('info', ('Summed up: %d tokens became about %d.'):format(result.tokensBefore, after))
  end))
end

--- Another session in this workspace.
---@param method string
---@param params table
function Chat:become(method, params)
  params.history = method ~= 'agent/session/new' and { limit = config.now.history } or nil
  client.request(method, params, self:then_do(function(attached)
    self:take(attached)
  end))
end

--- Go on in a copy of this session.
---@param entry string
---@param position 'before'|'at'
function Chat:fork(entry, position)
  self:ask('agent/session/fork', { entryId = entry, position = position }, self:then_do(function(forked)
    if forked.editorText then
      self.input:give_back(forked.editorText)
    end
    self:become('agent/session/switch', { sessionId = forked.sessionId })
  end))
end

--- Take back what the last turn changed in files.
function Chat:undo()
  self:ask('agent/edits/list', {}, self:then_do(function(list)
    local turn ---@type string|nil
    for _, edit in ipairs(list.edits) do
      turn = not edit.undone and edit.turnId or turn
    end
    if not turn then
      self:tell('info', 'There is no edit to take back.')
      return
    end
    self:ask('agent/edits/revert', { turnId = turn }, self:then_do(function(done)
      local lines = { ('%d edits taken back.'):format(#done.reverted) }
      for _, refused in ipairs(done.refused) do
        lines[#lines + 1] = refused.message
      end
      self:tell(#done.refused > 0 and 'warn' or 'info', table.concat(lines, '\n'))
      documents.look_again()
    end))
  end))
end

--- Answer a question that stands in the transcript.
---@param question singletree.Question
---@param option singletree.Option
function Chat:answer(question, option)
  if not option.answer then
    require('singletree.dialogs').open(self, question)
    return
  end
  self:reply(question, option.answer)
end

---@param question singletree.Question
---@param answer table
function Chat:reply(question, answer)
  if not questions.answer(question.requestId, answer) then
    say.say('singletree: that question has its answer already.')
  end
  self.store:answered(question.requestId)
  self:draw()
end

return M
