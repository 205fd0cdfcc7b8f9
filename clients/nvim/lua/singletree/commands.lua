--- `:Singletree …`: its subcommands, what each of them completes, and what it does. Read next: acts.lua.
local acts = require('singletree.acts')
local context = require('singletree.context')
local dialogs = require('singletree.dialogs')
local face = require('singletree')
local pickers = require('singletree.pickers')
local say = require('singletree.say')
local tree = require('singletree.tree')

local M = {}

---@class singletree.Command
---@field tells string for the help of the completion and of :Singletree help
---@field complete? fun(chat: singletree.Chat|nil, lead: string): string[]
---@field run fun(chat: singletree.Chat, rest: string, range: { [1]: integer, [2]: integer, buf: integer }|nil)

---@param name string
---@return singletree.Question|nil
local function asked(chat, name)
  local question = chat.store:questions()[1]
  if not question then
    say.say(('singletree: there is no question to %s.'):format(name))
  end
  return question
end

---@param chat singletree.Chat
---@param allow boolean
local function decide(chat, allow)
  local question = asked(chat, allow and 'allow' or 'deny')
  for _, option in ipairs(question and question.options or {}) do
    if option.answer and (option.allow or false) == allow and question.kind == 'permission' then
      chat:reply(question, option.answer)
      return
    end
  end
end

--- Say something from the command line, with the lines of a range and the problems in them.
---@param how 'prompt'|'steer'|'followUp'
---@return fun(chat: singletree.Chat, rest: string, range: table|nil)
local function sends(how)
  return function(chat, rest, range)
    local more = { context = context.editor(vim.api.nvim_get_current_win()) }
    if range then
      more.blocks = context.lines(range.buf, range[1], range[2])
      vim.list_extend(more.blocks, context.problems(range.buf, range[1], range[2]))
    end
    if rest ~= '' then
      acts.send(chat, rest, how, more)
      return
    end
    if range then
      local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(range.buf), ':t')
      chat.along = { name = ('%s %d-%d'):format(name, range[1], range[2]), blocks = more.blocks }
    end
    chat:show()
  end
end

---@param values string[]
---@return fun(chat: singletree.Chat|nil, lead: string): string[]
local function among(values)
  return function(_, lead)
    return vim.tbl_filter(function(value)
      return vim.startswith(value, lead)
    end, values)
  end
end

---@type table<string, singletree.Command>
M.all = {
  open = {
    tells = 'show the conversation and stand in the prompt',
    run = function(chat)
      chat:show()
    end,
  },
  close = {
    tells = 'close both windows; the conversation goes on',
    run = function(chat)
      chat:hide()
    end,
  },
  prompt = { tells = 'say something; a range goes along', run = sends('prompt') },
  steer = { tells = 'say something into the running turn', run = sends('steer') },
  followup = { tells = 'say something when the running turn has ended', run = sends('followUp') },
  stop = {
    tells = 'stop the turn; waiting texts come back into the prompt',
    run = function(chat)
      if chat.cancel then
        chat.cancel()
        chat.cancel = nil
      end
      acts.stop(chat)
    end,
  },
  answer = {
    tells = 'answer the oldest question from a list',
    run = function(chat)
      local question = asked(chat, 'answer')
      if question then
        dialogs.choose(chat, question)
      end
    end,
  },
  allow = {
    tells = 'allow what is asked for, once',
    run = function(chat)
      decide(chat, true)
    end,
  },
  deny = {
    tells = 'deny what is asked for, once',
    run = function(chat)
      decide(chat, false)
    end,
  },
  tree = {
    tells = 'the tree of the session',
    complete = among(tree.FILTERS),
    run = function(chat, rest)
      tree.open(chat, rest ~= '' and rest or nil)
    end,
  },
  label = {
    tells = 'put a bookmark on where the conversation stands',
    run = function(chat, rest)
      local leaf = chat.store.info.leaf
      if not leaf then
        say.say('singletree: nothing was said yet.')
        return
      end
      chat:ask('agent/tree/label', { entryId = leaf, label = rest ~= '' and rest or vim.NIL })
    end,
  },
  fork = {
    tells = 'go on in a copy of this session',
    run = function(chat)
      local leaf = chat.store.info.leaf
      if leaf then
        acts.fork(chat, leaf, 'at')
      end
    end,
  },
  compact = {
    tells = 'sum up the older part; what follows says what to look at',
    run = function(chat, rest)
      acts.compact(chat, rest ~= '' and rest or nil)
    end,
  },
  undo = {
    tells = 'take back what the last turn changed in files',
    run = function(chat)
      acts.undo(chat)
    end,
  },
  new = {
    tells = 'a new session',
    run = function(chat, rest)
      acts.become(chat, 'agent/session/new', { workspace = chat.uri, name = rest ~= '' and rest or nil })
      chat:show()
    end,
  },
  sessions = {
    tells = 'the sessions of this workspace; what follows is searched for',
    run = function(chat, rest)
      pickers.sessions(chat, rest ~= '' and rest or nil)
    end,
  },
  rename = {
    tells = 'name this session',
    run = function(chat, rest)
      chat:ask('agent/session/rename', { name = rest })
    end,
  },
  model = {
    tells = 'choose the model',
    run = function(chat, rest)
      if rest ~= '' then
        pickers.set_model(chat, rest)
      else
        pickers.model(chat)
      end
    end,
  },
  thinking = {
    tells = 'choose how much the model thinks',
    run = function(chat, rest)
      if rest ~= '' then
        chat:ask('agent/thinking/set', { level = rest }, chat:then_do(function(result)
          if result.note then
            say.say(result.note)
          end
        end))
      else
        pickers.thinking(chat)
      end
    end,
  },
  mode = {
    tells = 'choose what is asked for',
    complete = among(pickers.MODES),
    run = function(chat, rest)
      if rest ~= '' then
        chat:ask('agent/permission/setMode', { mode = rest })
      else
        pickers.mode(chat)
      end
    end,
  },
  rules = {
    tells = 'the answers that are remembered; the one you choose is forgotten',
    run = function(chat)
      pickers.rules(chat)
    end,
  },
  trust = {
    tells = 'whether what this folder brings along counts: yes, no or forget',
    complete = among({ 'forget', 'no', 'yes' }),
    run = function(chat, rest)
      pickers.trust(chat, rest)
    end,
  },
  reload = {
    tells = 'everything anew from the daemon',
    run = function(chat)
      chat:reload()
    end,
  },
}

--- What `:Singletree` can be followed by.
---@param line string
---@return string[]
function M.complete(line)
  local words = vim.split(line:gsub('^.-Singletree%s*', ''), '%s+')
  local lead = words[#words]
  if #words <= 1 then
    local names = vim.tbl_keys(M.all)
    table.sort(names)
    return among(names)(nil, lead)
  end
  local command = M.all[words[1]]
  if command and command.complete then
    return command.complete(face.current(true), lead)
  end
  return {}
end

--- Run what follows `:Singletree`; nothing shows the conversation, or hides it.
---@param given vim.api.keyset.create_user_command.command_args
function M.run(given)
  local name, rest = given.args:match('^(%S*)%s*(.*)$')
  local chat = face.current()
  if not chat then
    return
  end
  if name == '' and given.range == 0 then
    chat:toggle()
    return
  end
  local command = M.all[name == '' and 'prompt' or name]
  if not command then
    say.say(('singletree: there is no %q; <Tab> completes what there is.'):format(name), vim.log.levels.WARN)
    return
  end
  local range = given.range > 0 and { given.line1, given.line2, buf = vim.api.nvim_get_current_buf() } or nil
  if name == 'open' or name == 'close' then
    command.run(chat, rest, range)
  else
    chat:open(function()
      command.run(chat, rest, range)
    end)
  end
end

return M
