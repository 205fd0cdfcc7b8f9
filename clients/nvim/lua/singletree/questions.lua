--- Questions of the daemon to the person, for permission and of extensions: they stand in the transcript until they
--- are answered there, by a command, or by somebody else. A key counts only on the line of an answer. Nothing
--- opens by itself. Read next: dialogs.lua (kinds that need more than a choice), draw.lua.
local M = {}

--- A question as the transcript shows it.
---@class singletree.Question
---@field requestId string
---@field sessionId string
---@field kind 'permission'|singletree.DialogKind
---@field title string
---@field said string[] what stands below the title
---@field diff? string
---@field options singletree.Option[]
---@field params table as it was asked

---@class singletree.Option
---@field id string
---@field label string
---@field answer table|nil what is sent; nil: something more is asked first
---@field allow? boolean

--- Who waits for which answer: the coroutine of each request.
---@type table<string, thread>
local waiting = {}

--- What neither title nor diff says: where a command runs, which files, and why it is asked.
---@param params singletree.PermissionParams
---@param title string
---@return string[]
local function about(params, title)
  local said = { params.subject.cwd and 'in ' .. params.subject.cwd or nil }
  for _, path in ipairs(not params.subject.diff and params.subject.paths or {}) do
    if not title:find(path, 1, true) then
      said[#said + 1] = path
    end
  end
  said[#said + 1] = params.reason
  return said
end

---@param params singletree.PermissionParams
---@return singletree.Question
function M.permission(params)
  local options = {}
  for _, option in ipairs(params.options) do
    local answer = { outcome = 'selected', optionId = option.id }
    options[#options + 1] = { id = option.id, label = option.label, answer = answer, allow = option.kind == 'allow' }
  end
  options[#options + 1] = { id = 'why', label = 'Deny and say why…' }

  local title = params.title
  if params.subject.command and not title:find(params.subject.command, 1, true) then
    title = title .. '\n' .. params.subject.command
  end
  return {
    requestId = params.requestId,
    sessionId = params.sessionId,
    kind = 'permission',
    title = title,
    said = about(params, title),
    diff = params.subject.diff,
    options = options,
    params = params,
  }
end

---@param params singletree.UiRequestParams
---@return singletree.Question
function M.dialog(params)
  local options = {}
  if params.kind == 'select' then
    for _, option in ipairs(params.options or {}) do
      local label = option.description and option.label .. ' – ' .. option.description or option.label
      options[#options + 1] = { id = option.value, label = label, answer = { value = option.value } }
    end
  elseif params.kind == 'confirm' then
    options = {
      { id = 'yes', label = 'Yes', answer = { value = true } },
      { id = 'no', label = 'No', answer = { value = false } },
    }
  else
    options[1] = { id = 'write', label = params.kind == 'input' and 'Answer…' or 'Write the answer…' }
  end
  options[#options + 1] = { id = 'dismiss', label = 'Dismiss', answer = { cancelled = true } }
  return {
    requestId = params.requestId,
    sessionId = params.sessionId,
    kind = params.kind,
    title = params.title,
    said = params.message and { params.message } or {},
    options = options,
    params = params,
  }
end

--- Wait for the answer to a question, in the coroutine of its request.
---@param question singletree.Question
---@return table
function M.wait(question)
  waiting[question.requestId] = coroutine.running()
  return coroutine.yield()
end

--- Give the answer. Only the first one counts; false: there is no such question any more.
---@param request string
---@param answer table
---@return boolean
function M.answer(request, answer)
  local thread = waiting[request]
  waiting[request] = nil
  if not thread then
    return false
  end
  coroutine.resume(thread, answer)
  return true
end

--- The question is answered elsewhere or taken back: whoever waits gets an answer that counts no more.
---@param request string
function M.withdraw(request)
  M.answer(request, { outcome = 'cancelled', cancelled = true })
end

--- The daemon is gone, and with it everybody who waited.
function M.forget()
  waiting = {}
end

return M
