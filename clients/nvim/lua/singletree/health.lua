--- `:checkhealth singletree`: what is there, what is missing, and what to do about it.
local client = require('singletree.client')
local config = require('singletree.config')

local M = {}

---@param command string[]
---@return string|nil said, string|nil problem
local function run(command)
  local started, process = pcall(vim.system, command, { text = true, timeout = 10000 })
  if not started then
    return nil, tostring(process)
  end
  local done = process:wait()
  if done.code ~= 0 then
    return nil, vim.trim(done.stderr or '')
  end
  return vim.trim(done.stdout or ''), nil
end

local function program()
  local health = vim.health
  local missing = client.missing()
  if missing then
    health.error('the program is missing', { missing })
    return
  end
  local cmd = config.now.cmd
  health.ok(('%s is %s'):format(cmd[1], vim.fn.exepath(cmd[1])))
  local version, problem = run({ cmd[1], '--version' })
  if version then
    health.ok(version)
  else
    health.error('it does not run', { problem })
    return
  end
  local said = run({ cmd[1], 'doctor' })
  for line in vim.gsplit(said or '', '\n+') do
    health.info(line)
  end
end

local function connection()
  local health = vim.health
  local one = client.get()
  if one and client.ready() then
    local agent = vim.tbl_get(one.server_capabilities, 'experimental', 'agent') or {}
    health.ok(('connected; protocol version %s, positions in %s'):format(agent.protocolVersion, one.offset_encoding))
  else
    health.info('not connected: :Singletree connects')
  end
end

function M.check()
  local health = vim.health
  health.start('Neovim')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim ' .. tostring(vim.version()))
  else
    health.error('Neovim 0.10 or newer is needed')
  end
  if pcall(vim.treesitter.language.add, 'markdown') then
    health.ok('the treesitter parser for Markdown is there')
  else
    health.info('no treesitter parser for Markdown: the transcript has plain syntax highlighting')
  end
  health.start('singletree')
  program()
  connection()
end

return M
