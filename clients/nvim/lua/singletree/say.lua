--- Words to the person outside of the transcript: one line, so that Neovim never asks for Enter.
local M = {}

---@param message string
---@param level? integer of vim.log.levels
function M.say(message, level)
  local line = message:gsub('%s*\n%s*', ' ')
  local cells = math.max(20, vim.v.echospace)
  if vim.fn.strdisplaywidth(line) > cells then
    line = vim.fn.strcharpart(line, 0, cells - 1) .. '…'
  end
  vim.notify(line, level or vim.log.levels.INFO)
end

--- What an error answer says, with its hint.
---@param error table
---@return string
function M.told(error)
  local hint = type(error.data) == 'table' and error.data.hint
  return hint and error.message .. '\n' .. hint or error.message or 'It failed.'
end

return M
