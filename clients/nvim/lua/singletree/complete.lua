--- Completion in the prompt: `/` a command, a template or a skill, `@` a file of the workspace. Read next: keys.lua.
local chats = require('singletree.chat')
local client = require('singletree.client')

local M = {}

--- No more files than this are offered.
local MOST = 200

---@return singletree.Chat|nil
local function here()
  local buf = vim.api.nvim_get_current_buf()
  return chats.find(function(chat)
    return chat.input.buf == buf
  end)
end

--- The slash commands that begin so. The list is asked for each time, for it changes; half a second is waited.
---@param chat singletree.Chat
---@param base string
---@return table[]
local function commands(chat, base)
  local list ---@type singletree.CommandList|nil
  client.request('agent/command/list', { sessionId = chat.store.session }, function(_, result)
    list = result or { commands = {} }
  end)
  vim.wait(500, function()
    return list ~= nil
  end, 10)
  local found = {}
  for _, command in ipairs(list and list.commands or {}) do
    if vim.startswith('/' .. command.name, base) then
      found[#found + 1] = { word = '/' .. command.name, menu = command.description }
    end
  end
  return found
end

--- The files below the folder a name begins with.
---@param root string
---@param base string
---@return table[]
local function files(root, base)
  local name = base:sub(2)
  local folder = name:match('^(.*/)') or ''
  local found = {}
  local entries = vim.uv.fs_scandir(root .. '/' .. folder)
  while entries and #found < MOST do
    local entry, kind = vim.uv.fs_scandir_next(entries)
    if not entry then
      break
    end
    local word = folder .. entry .. (kind == 'directory' and '/' or '')
    if vim.startswith(word, name) and entry ~= '.git' then
      found[#found + 1] = { word = '@' .. word }
    end
  end
  table.sort(found, function(a, b)
    return a.word < b.word
  end)
  return found
end

---@param findstart 0|1
---@param base string
---@return integer|table[]
function M.omni(findstart, base)
  if findstart == 1 then
    local before = vim.api.nvim_get_current_line():sub(1, vim.fn.col('.') - 1)
    local from = before:find('@[^%s@]*$') or before:find('^%s*/%S*$') and before:find('/', 1, true)
    return from and from - 1 or -3
  end
  local chat = here()
  if not chat then
    return {}
  end
  return base:sub(1, 1) == '@' and files(chat.root, base) or commands(chat, base)
end

return M
