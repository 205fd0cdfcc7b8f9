--- Texts from anywhere, made fit to be lines of a buffer. Knows nothing of sessions. Read next: store.lua.
local M = {}

--- A line of a buffer longer than this is broken: one of a megabyte makes any editor crawl.
M.LONGEST = 4096

---@param line string
---@param lines string[]
local function add(line, lines)
  while #line > M.LONGEST do
    local cut = M.LONGEST
    while cut > M.LONGEST - 4 and line:byte(cut + 1) >= 0x80 and line:byte(cut + 1) < 0xC0 do
      cut = cut - 1 -- not within a character
    end
    lines[#lines + 1] = line:sub(1, cut)
    line = line:sub(cut + 1)
  end
  lines[#lines + 1] = line
end

--- The lines of a text; at least one. CRLF ends a line as LF does.
---@param text string
---@return string[]
function M.lines(text)
  local lines, from = {}, 1
  while true do
    local to = text:find('\n', from, true)
    local line = text:sub(from, to and to - 1 or -1)
    if to and line:byte(-1) == 13 then
      line = line:sub(1, -2)
    end
    add(line, lines)
    if not to then
      return lines
    end
    from = to + 1
  end
end

--- The first lines of a text, and how many there are beyond them.
---@param text string
---@param limit integer
---@return string[] lines, integer more
function M.head(text, limit)
  local lines = M.lines(text)
  if #lines > 1 and lines[#lines] == '' then
    lines[#lines] = nil
  end
  local more = #lines - limit
  if more <= 0 then
    return lines, 0
  end
  return vim.list_slice(lines, 1, limit), more
end

--- One line that says what a text begins with, of at most so many cells.
---@param text string
---@param cells integer
---@return string
function M.brief(text, cells)
  local line = vim.trim(text:sub(1, 4 * cells):gsub('[%c%s]+', ' '))
  if vim.fn.strdisplaywidth(line) <= cells and #text <= 4 * cells then
    return line
  end
  while #line > 0 and vim.fn.strdisplaywidth(line) > cells - 1 do
    line = vim.fn.strcharpart(line, 0, vim.fn.strchars(line) - 1)
  end
  return line .. '…'
end

--- The text of a message's content: a string, or blocks of which some hold text.
---@param content string|table[]|nil
---@return string
function M.of(content)
  if type(content) == 'string' then
    return content
  end
  local parts = {}
  for _, block in ipairs(content or {}) do
    if block.text then
      parts[#parts + 1] = block.text
    elseif block.type == 'image' then
      parts[#parts + 1] = '[image]'
    elseif block.uri then
      parts[#parts + 1] = '[' .. block.uri .. ']'
    end
  end
  return table.concat(parts, '\n')
end

return M
