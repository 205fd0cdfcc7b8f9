--- The daemon as a client of vim.lsp: started, greeted, asked, started again when it dies. Knows methods only
--- by name; who wants to hear or to answer registers. Read next: chat.lua, documents.lua.
local config = require('singletree.config')

local M = {}

---@alias singletree.Answer fun(error: table|nil, result: any)

--- Requests and notifications of the daemon, by method. A request may be answered later: `coroutine.yield`.
---@type table<string, fun(params: table): any>
M.handlers = {}

--- Called when the daemon is there, and when it is gone (with how that came).
---@type { up: fun(), down: fun(reason: string) }
M.on = { up = function() end, down = function() end }

---@class singletree.Connection
---@field id? integer of the client of vim.lsp
---@field ready boolean
---@field leaving boolean
---@field waiting singletree.Answer[] who waits for it to be ready
---@field open table<singletree.Answer, true> who waits for an answer
---@field tries integer
local now = { ready = false, leaving = false, waiting = {}, open = {}, tries = 0 }

--- How long to wait before the next attempt, in milliseconds.
local AGAIN = { 200, 1000, 3000, 5000, 10000 }

local DECLARED = {
  protocolVersions = { 1 },
  clientId = 'nvim-' .. vim.uv.os_getpid(),
  events = { delta = true, maxLatencyMs = 33 },
  permissions = vim.empty_dict(),
  ui = {
    dialogs = { 'select', 'confirm', 'input', 'editor', 'form' },
    status = vim.empty_dict(),
    widgets = vim.empty_dict(),
    notify = vim.empty_dict(),
  },
  editor = { applyEdit = 'open', read = vim.empty_dict(), save = vim.empty_dict() },
}

--- What is missing, in one line, or nil.
---@return string|nil
function M.missing()
  local program = config.now.cmd[1]
  if vim.fn.executable(program) == 0 then
    return ('singletree: the program %q is not there. Install it (python3 -m venv ~/.singletree && ~/.singletree/bin/pip install SOURCES) and put it on your PATH, or name it: require("singletree").setup({ cmd = { "/path/to/singletree", … } })'):format(
      program
    )
  end
end

---@return vim.lsp.Client|nil
function M.get()
  return now.id and vim.lsp.get_client_by_id(now.id) or nil
end

---@return boolean
function M.ready()
  return now.ready
end

---@param error table|nil
local function released(error)
  local waiting = now.waiting
  now.waiting = {}
  for _, answer in ipairs(waiting) do
    answer(error)
  end
end

---@param code integer
---@param signal integer
local function gone(code, signal)
  local early = not now.ready
  now.id, now.ready = nil, false
  local how = signal ~= 0 and 'signal ' .. signal or 'status ' .. code
  local reason = ('The daemon has ended (%s).'):format(how)
  if early then
    reason = ('%q ended at once (%s): :checkhealth singletree'):format(table.concat(config.now.cmd, ' '), how)
  end
  released({ message = reason })
  local open = now.open
  now.open = {}
  for answer in pairs(open) do
    answer({ message = reason, code = 0 })
  end
  if now.leaving then
    return
  end
  M.on.down(reason)
  now.tries = now.tries + 1
  local wait = AGAIN[now.tries]
  if wait then
    vim.defer_fn(function()
      if not now.id and not now.leaving then
        M.start(function() end)
      end
    end, wait)
  end
end

--- The program, with an end that vim.lsp takes as an orderly one: what is to be said of it we say.
---@param dispatchers vim.lsp.rpc.Dispatchers
---@return vim.lsp.rpc.PublicClient
local function program(dispatchers)
  local on_exit = dispatchers.on_exit
  dispatchers.on_exit = function(code, signal)
    on_exit(0, 0)
    vim.schedule(function()
      gone(code, signal)
    end)
  end
  return vim.lsp.rpc.start(config.now.cmd, dispatchers, { env = config.now.env, cwd = vim.uv.os_homedir() })
end

--- A value without its nulls: they are absent to us. Neovim 0.12 brings them as `vim.NIL`, older ones leave them out.
---@generic T
---@param value T
---@return T
function M.plain(value)
  if value == vim.NIL then
    return nil
  elseif type(value) == 'table' then
    for key, one in pairs(value) do
      value[key] = M.plain(one)
    end
  end
  return value
end

---@return table<string, function>
local function handlers()
  local made = {}
  for method, handle in pairs(M.handlers) do
    made[method] = function(_, params)
      return handle(M.plain(params))
    end
  end
  return made
end

local function ready()
  now.ready, now.tries = true, 0
  M.on.up()
  released()
end

---@return vim.lsp.ClientConfig
local function described()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.general.positionEncodings = { 'utf-8', 'utf-16', 'utf-32' }
  capabilities.workspace.workspaceEdit.documentChanges = true -- edits come with the version they are meant for
  return {
    capabilities = capabilities,
    name = 'singletree',
    cmd = program,
    init_options = { agent = vim.tbl_extend('force', DECLARED, { settings = config.now.settings }) },
    settings = config.now.settings and { agent = config.now.settings } or nil,
    handlers = handlers(),
    flags = { debounce_text_changes = 0, allow_incremental_sync = true },
    on_init = function()
      vim.schedule(ready)
    end,
    reuse_client = function()
      return false
    end,
  }
end

--- Have the daemon running and greeted; then, or when that cannot be, `answer` is called.
---@param answer singletree.Answer
function M.start(answer)
  if now.ready then
    answer()
    return
  end
  local missing = M.missing()
  if missing then
    answer({ message = missing })
    return
  end
  table.insert(now.waiting, answer)
  if now.id then
    return
  end
  now.leaving = false
  if vim.fn.has('nvim-0.11') == 1 then
    now.id = vim.lsp.start(described(), { attach = false })
  else
    now.id = vim.lsp.start_client(described()) ---@diagnostic disable-line: deprecated
  end
  if not now.id then
    released({ message = 'singletree: the daemon could not be started, see :LspLog' })
  end
end

--- Ask the daemon. `answer` gets what it says, or an error with a `message`; always later, never twice.
---@param method string
---@param params table
---@param answer? singletree.Answer
---@return fun() cancel
function M.request(method, params, answer)
  answer = answer or function() end
  local client = M.get()
  if not client or not now.ready then
    vim.schedule(function()
      answer({ message = 'The daemon is not there; :Singletree starts it.', code = 0 })
    end)
    return function() end
  end
  local done = false
  local once ---@type singletree.Answer
  once = function(error, result)
    if not done then
      done, now.open[once] = true, nil
      answer(M.plain(error), M.plain(result))
    end
  end
  now.open[once] = true
  local sent, id = client.rpc.request(method, params, once)
  if not sent then
    vim.schedule_wrap(once)({ message = 'The daemon is gone.', code = 0 })
  end
  return function()
    if not done and id then
      client.rpc.notify('$/cancelRequest', { id = id })
    end
  end
end



--- Let go of the daemon; it is not started again by itself.
function M.stop()
  now.leaving = true
  local client = M.get()
  if client then
    if vim.fn.has('nvim-0.11') == 1 then
      client:stop()
    else
      client.stop() ---@diagnostic disable-line: missing-parameter
    end
  end
end

return M
