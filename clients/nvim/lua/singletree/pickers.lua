--- Lists to choose from: models, thinking levels, permission modes, sessions. Each by `vim.ui.select`, so that it
--- looks as the person has set it. Read next: commands.lua.
local acts = require('singletree.acts')
local client = require('singletree.client')

local M = {}

---@param items any[]
---@param prompt string
---@param format fun(item: any): string
---@param chosen fun(item: any)
local function choose(items, prompt, format, chosen)
  vim.ui.select(items, { prompt = 'singletree: ' .. prompt, format_item = format }, function(item)
    if item ~= nil then
      chosen(item)
    end
  end)
end

---@param chat singletree.Chat
---@param name string
function M.set_model(chat, name)
  chat:ask('agent/model/set', { model = name })
end

---@param chat singletree.Chat
function M.model(chat)
  chat:ask('agent/model/list', { usable = true }, chat:then_do(function(list)
    choose(list.models, 'model', function(row)
      local mark = row.model == list.current and '● ' or '  '
      return ('%s%s  %dk%s'):format(mark, row.model, row.contextWindow / 1000, row.reasoning and ' · thinks' or '')
    end, function(row)
      M.set_model(chat, row.model)
    end)
  end))
end

---@param chat singletree.Chat
function M.thinking(chat)
  chat:ask('agent/thinking/list', {}, chat:then_do(function(list)
    choose(list.levels, 'thinking', function(level)
      return (level == list.current and '● ' or '  ') .. level
    end, function(level)
      chat:ask('agent/thinking/set', { level = level })
    end)
  end))
end

M.MODES = { 'ask', 'acceptEdits', 'readOnly', 'allowAll' }

---@param chat singletree.Chat
function M.mode(chat)
  choose(M.MODES, 'what is asked for', function(mode)
    return (mode == chat.store.info.mode and '● ' or '  ') .. mode
  end, function(mode)
    chat:ask('agent/permission/setMode', { mode = mode })
  end)
end

local WHERE = { session = 'in this session', workspace = 'in this workspace', user = 'in every workspace' }

--- The answers that are remembered; the one that is chosen is forgotten.
---@param chat singletree.Chat
function M.rules(chat)
  chat:ask('agent/permission/list', {}, chat:then_do(function(list)
    if #list.rules == 0 then
      chat:tell('info', 'No answer is remembered here.')
      return
    end
    choose(list.rules, 'forget which answer?', function(rule)
      return ('%s %s: %s, %s, used %d times'):format(rule.decision, rule.tool, rule.pattern, WHERE[rule.scope], rule.uses)
    end, function(rule)
      chat:ask('agent/permission/remove', { ids = { rule.id } }, chat:then_do(function()
        chat:tell('info', ('Forgotten: %s %s: %s'):format(rule.decision, rule.tool, rule.pattern))
      end))
    end)
  end))
end

local TRUST = { yes = true, no = false, forget = vim.NIL }

--- A person's word on the folder; without one it is asked for, with all that would count.
---@param chat singletree.Chat
---@param word string
function M.trust(chat, word)
  if TRUST[word] ~= nil then
    chat:ask('agent/trust/set', { trusted = TRUST[word] }, chat:then_do(function(told)
      chat:tell('info', told.trusted and 'What this folder brings along counts.' or 'This folder is not trusted.')
    end))
    return
  end
  local paths = table.concat(chat.store.skipped, ', ')
  local what = paths ~= '' and 'trust this folder? Then this counts, and its code runs: ' .. paths or 'trust this folder?'
  choose({ 'no', 'yes', 'forget' }, what, tostring, function(chosen)
    M.trust(chat, chosen)
  end)
end

---@param row singletree.SessionRow
---@param current string|nil
---@return string
local function session_line(row, current)
  local mark = row.sessionId == current and '● ' or '  '
  local when = row.updatedAt:sub(1, 16):gsub('T', ' ')
  local what = row.name or row.preview:gsub('%c', ' ')
  return ('%s%s  %s'):format(mark, when, what ~= '' and what or '(nothing said yet)')
end

---@param chat singletree.Chat
---@param query? string
function M.sessions(chat, query)
  local params = { workspace = chat.uri, limit = 100, query = query }
  client.request('agent/session/list', params, chat:then_do(function(list)
    choose(list.sessions, 'sessions', function(row)
      return session_line(row, chat.store.session)
    end, function(row)
      acts.become(chat, 'agent/session/switch', { sessionId = row.sessionId, path = row.path })
    end)
  end))
end

return M
