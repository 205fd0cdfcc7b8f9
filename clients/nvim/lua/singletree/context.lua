--- What goes along with a text: files that it names by @, a selection, the problems in a range, the file in
--- front of the person. Positions count bytes, as the client declares. Read next: chat.lua.
local documents = require('singletree.documents')

local M = {}

--- A text with what belongs to it, as content.
---@param said string
---@param root string
---@param blocks? table[]
---@return table[]
function M.content(said, root, blocks)
  local content = { { type = 'text', text = said } }
  for name in said:gmatch('@([%w%._/%-]+)') do
    local path = vim.fs.joinpath(root, (name:gsub('[%.]+$', '')))
    if vim.uv.fs_stat(path) then
      content[#content + 1] = { type = 'fileMention', uri = vim.uri_from_fname(path) }
    end
  end
  return vim.list_extend(content, blocks or {})
end

--- Some lines of a buffer, as they are now. A buffer without a file gives its text alone.
---@param buf integer
---@param first integer counted from 1
---@param last integer
---@return table[]
function M.lines(buf, first, last)
  local text = table.concat(vim.api.nvim_buf_get_lines(buf, first - 1, last, false), '\n')
  if not documents.followed(buf) then
    return { { type = 'text', text = text } }
  end
  local range = {
    start = { line = first - 1, character = 0 },
    ['end'] = { line = last, character = 0 },
  }
  return { { type = 'selection', uri = vim.uri_from_bufnr(buf), range = range, text = text .. '\n' } }
end

--- The problems the editor shows in some lines of a buffer.
---@param buf integer
---@param first integer counted from 1
---@param last integer
---@return table[]
function M.problems(buf, first, last)
  local blocks, uri = {}, vim.uri_from_bufnr(buf)
  for _, found in ipairs(vim.diagnostic.get(buf)) do
    if found.lnum + 1 <= last and (found.end_lnum or found.lnum) + 1 >= first then
      local diagnostic = {
        range = {
          start = { line = found.lnum, character = found.col },
          ['end'] = { line = found.end_lnum or found.lnum, character = found.end_col or found.col },
        },
        severity = found.severity,
        message = found.message,
        source = found.source,
        code = found.code,
      }
      blocks[#blocks + 1] = { type = 'diagnostic', uri = uri, diagnostic = diagnostic }
    end
  end
  return blocks
end

--- The file in front of the person, and what they see of it.
---@param win integer|nil
---@return singletree.EditorContext|nil
function M.editor(win)
  local buf = win and vim.api.nvim_win_get_buf(win)
  if not buf or not documents.followed(buf) then
    return nil
  end
  local first, last = vim.fn.line('w0', win), vim.fn.line('w$', win)
  return {
    activeEditor = {
      uri = vim.uri_from_bufnr(buf),
      version = vim.lsp.util.buf_versions[buf],
      languageId = vim.bo[buf].filetype,
      visible = {
        start = { line = first - 1, character = 0 },
        ['end'] = { line = last, character = 0 },
      },
    },
  }
end

return M
