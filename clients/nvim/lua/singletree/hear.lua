--- What comes from the daemon, to whom it is for: events to their conversation, questions before the person, edits
--- and saving to the documents. Read next: client.lua, chat.lua.
local chats = require('singletree.chat')
local client = require('singletree.client')
local documents = require('singletree.documents')
local questions = require('singletree.questions')
local say = require('singletree.say')

local M = {}

--- What is told of a session.
---@type table<string, fun(chat: singletree.Chat, params: table)>
local told = {
  ['agent/event'] = function(chat, params)
    chat:event(params)
  end,
  ['agent/delta'] = function(chat, params)
    chat:delta(params)
  end,
  ['agent/ui/update'] = function(chat, params)
    chat:sign(params)
  end,
  ['agent/request/resolved'] = function(chat, params)
    chat:resolved(params.requestId)
  end,
}

--- What is asked of the person. The answer may take as long as they like.
---@type table<string, fun(params: table): singletree.Question>
local asked = {
  ['agent/permission/request'] = questions.permission,
  ['agent/ui/request'] = questions.dialog,
}

--- What is asked of the editor, and what needs no answer of ours.
---@type table<string, fun(params: table): any>
local done = {
  ['workspace/applyEdit'] = documents.apply,
  ['agent/editor/read'] = documents.read,
  ['agent/editor/save'] = documents.save,
  ['agent/sessions/changed'] = function() end,
  ['window/showMessage'] = function(params)
    say.say('singletree: ' .. params.message)
  end,
}

local function handlers()
  local made = vim.tbl_extend('force', {}, done)
  for method, tell in pairs(told) do
    made[method] = function(params)
      local chat = chats.by_session(params.sessionId)
      if chat then
        tell(chat, params)
      end
    end
  end
  for method, make in pairs(asked) do
    made[method] = function(params)
      local question = make(params)
      local chat = chats.by_session(params.sessionId)
      if chat then
        chat:asked(question)
      end
      return questions.wait(question)
    end
  end
  return made
end

--- From now on.
function M.begin()
  client.handlers = handlers()
  client.on.up = function()
    documents.follow_all()
    for _, chat in pairs(chats.all) do
      chat:back()
    end
  end
  client.on.down = function(reason)
    questions.forget()
    for _, chat in pairs(chats.all) do
      chat:lost(reason)
    end
  end
end

return M
