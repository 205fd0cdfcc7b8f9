--- The editor's part: which buffers the daemon follows, its edits, saving, reading, and files that commands have
--- changed. Nothing here opens a window, moves the cursor or asks anything. Read next: client.lua.
local client = require('singletree.client')

local M = {}

--- Whether the daemon follows a buffer: one with a file, loaded, listed or not.
---@param buf integer
---@return boolean
function M.followed(buf)
  return vim.api.nvim_buf_is_loaded(buf)
    and vim.bo[buf].buftype == ''
    and vim.api.nvim_buf_get_name(buf) ~= ''
    and vim.uri_from_bufnr(buf):find('^file:') ~= nil
end

---@param buf integer
local function follow(buf)
  local one = client.get()
  if one and client.ready() and M.followed(buf) then
    vim.lsp.buf_attach_client(buf, one.id)
  end
end

--- Follow all buffers there are, and those to come.
function M.follow_all()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    follow(buf)
  end
  local group = vim.api.nvim_create_augroup('singletree.documents', { clear = true })
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufFilePost', 'BufWritePost' }, {
    group = group,
    callback = function(event)
      follow(event.buf)
    end,
  })
end

---@param uri string
---@return integer|nil
local function loaded(uri)
  local buf = vim.uri_to_bufnr(uri)
  return vim.api.nvim_buf_is_loaded(buf) and buf or nil
end

--- Why an edit cannot be made as it was meant, or nil.
---@param edit table
---@return string|nil
local function unfit(edit)
  for _, change in ipairs(edit.documentChanges or {}) do
    local document = change.textDocument
    local buf = document and loaded(document.uri)
    if document and not buf then
      return 'The document is not open any more.'
    elseif buf and not vim.bo[buf].modifiable then
      return 'The buffer cannot be changed (nomodifiable).'
    elseif buf and document.version and document.version ~= vim.lsp.util.buf_versions[buf] then
      return 'The document has changed meanwhile.'
    end
  end
end

--- A new step of undo begins here, also while the person is typing in this buffer.
---@param edit table
local function new_step(edit)
  for _, change in ipairs(edit.documentChanges or {}) do
    local buf = change.textDocument and loaded(change.textDocument.uri)
    if buf then
      vim.api.nvim_buf_call(buf, function()
        vim.bo[buf].undolevels = vim.bo[buf].undolevels
      end)
    end
  end
end

---@param params table
---@return table
function M.apply(params)
  local one = assert(client.get())
  local reason = unfit(params.edit)
  if reason then
    return { applied = false, failureReason = reason }
  end
  new_step(params.edit)
  local done, problem = pcall(vim.lsp.util.apply_workspace_edit, params.edit, one.offset_encoding)
  new_step(params.edit)
  return { applied = done, failureReason = not done and tostring(problem) or nil }
end

---@param params singletree.EditorReadParams
---@return singletree.EditorReadResult|nil, table|nil
function M.read(params)
  local buf = loaded(params.uri)
  if not buf then
    return nil, { code = -32803, message = 'No buffer holds ' .. params.uri }
  end
  local ends = ({ dos = '\r\n', mac = '\r' })[vim.bo[buf].fileformat] or '\n'
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), ends)
  if vim.bo[buf].eol then
    text = text .. ends
  end
  return { text = text, version = vim.lsp.util.buf_versions[buf], dirty = vim.bo[buf].modified }
end

---@param buf integer
local function write(buf)
  vim.api.nvim_buf_call(buf, function()
    vim.cmd('silent keepalt lockmarks write!')
  end)
end

--- Save without a dialog. A buffer that may not be written is told, not forced.
---@param params singletree.EditorSaveParams
---@return singletree.EditorSaveResult
function M.save(params)
  local result = { saved = {}, failed = {} }
  for _, uri in ipairs(params.uris) do
    local buf = loaded(uri)
    local problem = not buf and 'No buffer holds it.' or vim.bo[buf].readonly and 'The buffer is read-only.'
    if not problem and buf then
      local done, said = pcall(write, buf)
      problem = not done and tostring(said)
    end
    if problem then
      table.insert(result.failed, { uri = uri, message = problem })
    else
      table.insert(result.saved, uri)
    end
  end
  return result
end

--- Files may be others on the disk now: look again at what is shown, where that raises no question.
function M.look_again()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if M.followed(buf) and not vim.bo[buf].modified and vim.o.autoread then
      pcall(vim.cmd.checktime, { buf, mods = { silent = true, emsg_silent = true } })
    end
  end
end

return M
