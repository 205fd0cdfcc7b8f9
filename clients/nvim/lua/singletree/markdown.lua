--- How a Markdown text is lit, by the treesitter parsers that Neovim has. Each text is looked at by itself, so a
--- fence that one leaves open colours no other, and lines of ours are never taken for Markdown. Pure.
--- Read next: transcript.lua.
local M = {}

--- A text longer than this is shown plainly.
M.LONGEST = 262144

--- Part of a text in a highlight group; `conceal` stands for it where 'conceallevel' says so.
---@class singletree.Light
---@field row integer
---@field col integer
---@field stop_row integer
---@field stop_col integer
---@field group? string
---@field conceal? string
---@field conceal_lines? string the line is not there at all (Neovim 0.11)
---@field priority integer

---@param lines string[]
---@param range integer[] row, column, byte, row, column, byte
---@return integer row, integer column
local function stop(lines, range)
  local row, col = range[4], range[5]
  if row >= #lines or (col == 0 and row > range[1]) then
    row = math.min(row, #lines) - 1
    col = #lines[row + 1]
  end
  return row, math.min(col, #lines[row + 1])
end

---@param tree TSTree
---@param language string
---@param said string
---@param lines string[]
---@param lights singletree.Light[]
local function collect(tree, language, said, lines, lights)
  local query = vim.treesitter.query.get(language, 'highlights')
  if not query then
    return
  end
  for id, node, metadata in query:iter_captures(tree:root(), said, 0, -1) do
    local name = query.captures[id]
    local own = metadata[id] or {}
    if not name:find('^_') and name ~= 'spell' and name ~= 'nospell' then
      local range = vim.treesitter.get_range(node, said, own)
      local row, col = stop(lines, range)
      lights[#lights + 1] = {
        row = range[1],
        col = range[2],
        stop_row = row,
        stop_col = col,
        group = name ~= 'conceal' and '@' .. name .. '.' .. language or nil,
        conceal = own.conceal or metadata.conceal,
        conceal_lines = own.conceal_lines or metadata.conceal_lines,
        priority = tonumber(own.priority or metadata.priority) or 100,
      }
    end
  end
end

--- The lights of a text; none where there is no parser.
---@param lines string[]
---@return singletree.Light[]
function M.lights(lines)
  local said = table.concat(lines, '\n') .. '\n'
  if #said > M.LONGEST then
    return {}
  end
  local good, parser = pcall(vim.treesitter.get_string_parser, said, 'markdown')
  if not good then
    return {}
  end
  local lights = {}
  parser:parse(true)
  parser:for_each_tree(function(tree, languages)
    pcall(collect, tree, languages:lang(), said, lines, lights)
  end)
  return lights
end

return M
