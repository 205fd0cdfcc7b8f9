--- One conversation: the session of a workspace, its transcript and its prompt; opened, kept up to date, lost and found
--- again. Read next: acts.lua (what a person does with it), store.lua, transcript.lua.
local client = require('singletree.client')
local config = require('singletree.config')
local documents = require('singletree.documents')
local events = require('singletree.events')
local input_of = require('singletree.input')
local keys = require('singletree.keys')
local layout = require('singletree.layout')
local questions = require('singletree.questions')
local say = require('singletree.say')
local store_of = require('singletree.store')
local transcript_of = require('singletree.transcript')

---@class singletree.Chat
---@field root string the workspace
---@field number integer which conversation of this Neovim it is
---@field uri string
---@field store singletree.Store
---@field transcript singletree.Transcript
---@field input singletree.Input
---@field along? { name: string, blocks: table[] } goes along with what is said next
---@field cancel? fun() gives up the summary that is being made
---@field private reloading? boolean
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
  local store = store_of.new()
  local chat = setmetatable({ root = root, uri = vim.uri_from_fname(root), store = store, made = 0 }, Chat)
  local name = 'singletree://' .. root
  chat.transcript = transcript_of.new(store, name .. '/transcript')
  chat.input = input_of.new(root, name .. '/prompt', function()
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
  events.sign(self.store, sign)
  self:draw()
end

---@param delta singletree.DeltaParams
function Chat:delta(delta)
  self.store:delta(delta)
  self:draw()
end

--- A question stands in the transcript from now on.
---@param question singletree.Question
function Chat:asked(question)
  self.store:ask(question)
  self:draw()
end

--- A question has its answer from elsewhere, or was taken back.
---@param request string
function Chat:resolved(request)
  questions.withdraw(request)
  self.store:answered(request)
  self:draw()
end

--- Give the answer to a question; the first one counts.
---@param question singletree.Question
---@param answer table
function Chat:reply(question, answer)
  if not questions.answer(question.requestId, answer) then
    say.say('singletree: that question has its answer already.')
  end
  self.store:answered(question.requestId)
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
  if #changes == 0 then
    return
  end
  self.transcript:apply(changes)
  for _, change in ipairs(changes) do
    if change.op ~= 'append' then -- not with every piece of a text
      vim.cmd.redrawstatus({ bang = true })
      break
    end
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
---@param request string
---@return boolean
local function pending(attached, request)
  return vim.iter(attached.pending):any(function(one)
    return one.requestId == request
  end)
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
    if question.sessionId == attached.sessionId and pending(attached, question.requestId) then
      self.store:ask(question)
    end
  end
  self:draw()
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

--- Everything anew from the daemon. What is told until the answer comes is in it.
function Chat:reload()
  self.store.stale = false
  if self.reloading then
    return
  end
  self.reloading = true
  self:ask('agent/session/attach', { history = { limit = config.now.history } }, function(error, attached)
    self.reloading = false
    if not error then
      self:take(attached)
    elseif client.ready() then
      self:attach() -- it was closed
    end
  end)
end

---@return boolean
function Chat:running()
  return self.store.info.phase ~= 'idle'
end

return M
