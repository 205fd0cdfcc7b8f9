--- Windows of their own for what is too long for the transcript: a diff, a whole output, a file. Each opens on a
--- key of the person's. Read next: keys.lua.
local client = require('singletree.client')
local layout = require('singletree.layout')
local say = require('singletree.say')
local text = require('singletree.text')

local M = {}

--- Show lines in a buffer that goes when its window is closed.
---@param lines string[]
---@param filetype string
---@param title string
---@return integer buf
function M.scratch(lines, filetype, title)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].modifiable = 'wipe', false
  layout.below(buf, { statusline = ' ' .. title:gsub('%%', '%%%%'):gsub('%c', ' ') .. '%=q closes ' })
  vim.bo[buf].filetype = filetype
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buf, nowait = true })
  return buf
end

--- A place in our help, also where nobody has made the tags of it.
---@param tag string
function M.help(tag)
  if pcall(vim.cmd.help, tag) then
    return
  end
  local doc = vim.api.nvim_get_runtime_file('doc/singletree.txt', false)[1]
  vim.cmd('botright split ' .. vim.fn.fnameescape(doc))
  vim.bo.modifiable, vim.bo.filetype = false, 'help'
  vim.fn.search('\\V*' .. tag .. '*')
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = true, nowait = true })
end

---@param row singletree.Row|nil
---@return singletree.Tool|nil
local function tool_of(row)
  local tool = row and row.block.tool
  if not tool then
    say.say('singletree: the cursor is not on a tool call.')
  end
  return tool
end

--- A text by its address, piece by piece; a file is read from the disk.
---@param uri string
---@param done fun(said: string)
local function whole(uri, done)
  if uri:find('^file:') then
    local file = io.open(vim.uri_to_fname(uri), 'rb')
    if file then
      done(file:read('*a'))
      file:close()
    else
      say.say('singletree: the file is not there any more: ' .. uri, vim.log.levels.WARN)
    end
    return
  end
  local pieces = {}
  local function piece(start)
    client.request('agent/content/read', { uri = uri, range = { start = start } }, function(error, result)
      if error then
        say.say('singletree: ' .. say.told(error), vim.log.levels.WARN)
        return
      end
      pieces[#pieces + 1] = result.text
      if result.next then
        piece(result.next)
      else
        done(table.concat(pieces))
      end
    end)
  end
  piece(0)
end

--- The whole of an answer that was shortened on its way: its record, and of that the part.
---@param block singletree.Block
local function answer(block)
  whole(block.cut --[[@as string]], function(said)
    local part = tonumber(block.id:match('/(%d+)$'))
    local good, record = pcall(vim.json.decode, said)
    local content = good and vim.tbl_get(record, 'message', 'content')
    local piece = type(content) == 'table' and part and content[part + 1] or nil
    M.scratch(text.lines(piece and (piece.text or piece.thinking) or said), 'markdown', 'answer')
  end)
end

---@param chat singletree.Chat
---@param row singletree.Row|nil
function M.output(chat, row)
  if row and row.block.cut then
    answer(row.block)
    return
  end
  local tool = tool_of(row)
  if not tool then
    return
  end
  local function show(said)
    M.scratch(text.lines(said), '', tool.title or tool.name)
  end
  local address = tool.whole or tool.cut and ('agent://%s/tool/%s/output.txt'):format(chat.store.session, tool.id)
  if address then
    whole(address, show)
  else
    show(tool.output or '')
  end
end

---@param chat singletree.Chat
---@param row singletree.Row|nil
function M.diff(chat, row)
  local question = row and row.block.question
  if question and question.diff then
    M.scratch(text.lines(question.diff), 'diff', question.title)
    return
  end
  local tool = tool_of(row)
  if not tool then
    return
  end
  if not tool.diff then
    say.say('singletree: this call has no diff.')
  elseif tool.cut then
    whole(('agent://%s/tool/%s/changes.diff'):format(chat.store.session, tool.id), function(said)
      M.scratch(text.lines(said), 'diff', tool.title or tool.name)
    end)
  else
    M.scratch(text.lines(tool.diff), 'diff', tool.title or tool.name)
  end
end

---@param row singletree.Row|nil
function M.file(row)
  local tool = tool_of(row)
  local place = tool and tool.locations and tool.locations[1]
  if not place then
    return
  end
  local win = layout.elsewhere()
  if win then
    vim.api.nvim_set_current_win(win)
  else
    vim.cmd('leftabove vsplit')
  end
  vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(place.uri)))
  if place.line then
    pcall(vim.api.nvim_win_set_cursor, 0, { place.line + 1, 0 })
  end
end

return M
