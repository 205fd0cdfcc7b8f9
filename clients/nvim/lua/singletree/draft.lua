--- What stands in a prompt buffer, kept on the disk, so that it outlives a closed window, a wiped buffer and
--- Neovim itself. One file for each workspace.
local M = {}

---@param root string
---@return string
local function path(root)
  local folder = vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'singletree')
  return vim.fs.joinpath(folder, vim.fn.sha256(root):sub(1, 16) .. '.txt')
end

---@param root string
---@return string[]
function M.read(root)
  local file = io.open(path(root), 'rb')
  if not file then
    return {}
  end
  local said = file:read('*a')
  file:close()
  return said == '' and {} or vim.split(said, '\n', { plain = true })
end

---@param root string
---@param lines string[]
function M.write(root, lines)
  local said = table.concat(lines, '\n')
  local name = path(root)
  if said == '' then
    os.remove(name)
    return
  end
  vim.fn.mkdir(vim.fs.dirname(name), 'p', tonumber('700', 8))
  local file = io.open(name .. '.new', 'wb')
  if file then
    file:write(said)
    file:close()
    os.rename(name .. '.new', name)
  end
end

return M
