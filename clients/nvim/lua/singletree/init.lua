--- The face of the plugin: settings, the conversation of the current workspace, what a statusline shows. It puts
--- the parts together once, when the first of them is needed. Read next: chat.lua, commands.lua.
local M = {}

--- Set what differs from the defaults (config.lua).
---@param options? table
function M.setup(options)
  require('singletree.config').set(options)
end

local woken = false

--- Put everything together; the second time nothing happens.
function M.wake()
  if woken then
    return
  end
  woken = true
  require('singletree.hear').begin()
  local status = require('singletree.status')
  status.colours()
  local group = vim.api.nvim_create_augroup('singletree', { clear = true })
  vim.api.nvim_create_autocmd('ColorScheme', { group = group, callback = status.colours })
  vim.api.nvim_create_autocmd('VimLeavePre', {
    group = group,
    callback = function()
      for _, chat in pairs(require('singletree.chat').all) do
        chat.input:save()
      end
    end,
  })
  vim.api.nvim_create_autocmd('BufReadCmd', {
    group = group,
    pattern = 'singletree://*',
    callback = function(event)
      for _, chat in pairs(require('singletree.chat').all) do
        chat:read_again(event.buf)
      end
    end,
  })
end

--- The nearest folder from this one upwards with a marker. Not `vim.fs.root`: it expands `$` in names.
---@param folder string
---@return string|nil
local function marked(folder)
  local markers = require('singletree.config').now.root_markers
  while true do
    for _, marker in ipairs(markers) do
      if vim.uv.fs_stat(folder .. '/' .. marker) then
        return folder
      end
    end
    local above = vim.fs.dirname(folder)
    if above == folder or above == '.' then
      return nil
    end
    folder = above
  end
end

--- The workspace of the current buffer: the nearest folder with a marker, else the current folder.
---@return string|nil
function M.root()
  local buf = vim.api.nvim_get_current_buf()
  local name = vim.api.nvim_buf_get_name(buf)
  local chats = package.loaded['singletree.chat']
  local own = chats
    and chats.find(function(chat)
      return chat.transcript.buf == buf or chat.input.buf == buf
    end)
  if own then
    return own.root
  end
  local cwd = vim.uv.cwd()
  local from = vim.bo[buf].buftype == '' and name ~= '' and vim.fs.dirname(name) or cwd
  local root = from and marked(from) or cwd
  return root and (vim.uv.fs_realpath(root) or root)
end

--- The conversation of the current workspace. `known`: only if there is one already.
---@param known? boolean
---@return singletree.Chat|nil
function M.current(known)
  local root = M.root()
  if known then
    local chats = package.loaded['singletree.chat']
    return root and chats and chats.all[root] or nil
  end
  if not root then
    require('singletree.say').say('singletree: the current folder is gone; :cd to another.', vim.log.levels.ERROR)
    return nil
  end
  M.wake()
  return require('singletree.chat').of(root)
end

--- For 'statusline': how the conversation of the current workspace stands.
---@return string
function M.status()
  if not package.loaded['singletree.chat'] then
    return ''
  end
  return require('singletree.status').line()
end

return M
