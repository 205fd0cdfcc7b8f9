--- What stands in a prompt buffer, kept on the disk, so that it outlives a closed window, a wiped buffer and
--- Neovim itself. One file for each workspace and Neovim; what one has left behind the next one takes up.
local M = {}

---@return string
local function folder()
  return vim.fs.joinpath(vim.fn.stdpath('state') --[[@as string]], 'singletree')
end

---@param root string
---@return string
local function stem(root)
  return vim.fn.sha256(root):sub(1, 16)
end

---@param root string
---@param number? integer of a draft that is being taken up
---@return string
local function path(root, number)
  local more = number and '.' .. number or ''
  return vim.fs.joinpath(folder(), ('%s-%d%s.txt'):format(stem(root), vim.uv.os_getpid(), more))
end

---@param name string
---@return string|nil
local function content(name)
  local file = io.open(name, 'rb')
  local said = file and file:read('*a')
  if file then
    file:close()
  end
  return said
end

---@param pid integer|nil
---@return boolean
local function lives(pid)
  if not pid then
    return false
  end
  local there, _, problem = vim.uv.kill(pid, 0)
  return there == 0 or problem == 'EPERM'
end

--- The drafts that no Neovim has any more, as our own: whoever renames a file first has it.
---@param root string
---@return string[] names
local function taken(root)
  local names = {}
  for name in vim.fs.dir(folder()) do
    local pid = name:match('^' .. stem(root) .. '%-?(%d*)[.%d]*%.txt$')
    local ours = path(root, #names + 1)
    if pid and not lives(tonumber(pid)) and os.rename(vim.fs.joinpath(folder(), name), ours) then
      names[#names + 1] = ours
    end
  end
  return names
end

---@param root string
---@return string[]
function M.read(root)
  local said = content(path(root))
  if not said then
    local names = taken(root)
    said = table.concat(vim.tbl_map(content, names), '\n\n')
    M.write(root, { said })
    vim.tbl_map(os.remove, names)
  end
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
  vim.fn.mkdir(folder(), 'p', tonumber('700', 8))
  local file = io.open(name .. '.new', 'wb')
  if file then
    file:write(said)
    file:close()
    os.rename(name .. '.new', name)
  end
end

return M
