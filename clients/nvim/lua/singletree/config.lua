--- What a person can set. Knows nothing else. Read next: init.lua.
local M = {}

---@class singletree.Config
---@field cmd string[] how the daemon is reached
---@field env? table<string, string>
---@field root_markers string[] a folder that holds one of these is a workspace
---@field settings? table the agent's own settings, as in settings.json
---@field position 'right'|'left'|'below'|'tab' where the windows open
---@field width number columns, or a part of them if less than 1
---@field height integer lines of the prompt window
---@field history integer entries that are loaded at first
---@field conceal integer 'conceallevel' of the transcript

---@type singletree.Config
M.defaults = {
  cmd = { 'singletree', 'attach' },
  root_markers = { '.git', '.pi', 'AGENTS.md' },
  position = 'right',
  width = 0.42,
  height = 6,
  history = 60,
  conceal = 2,
}

---@type singletree.Config
M.now = vim.deepcopy(M.defaults)

---@param given table|nil
function M.set(given)
  M.now = vim.tbl_extend('force', vim.deepcopy(M.defaults), given or {})
end

return M
