--- The keys of the two buffers, and of no other. Read next: acts.lua.
local acts = require('singletree.acts')
local context = require('singletree.context')
local dialogs = require('singletree.dialogs')
local layout = require('singletree.layout')
local views = require('singletree.views')

local M = {}

---@param buf integer
---@param modes string|string[]
---@param keys string
---@param does function
---@param desc string
local function map(buf, modes, keys, does, desc)
  vim.keymap.set(modes, keys, does, { buffer = buf, desc = 'singletree: ' .. desc, nowait = true })
end

--- <CR> in the transcript: answer, open, or load what is under the cursor.
---@param chat singletree.Chat
function M.act(chat)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local row, offset = chat.transcript:at(line)
  if not row then
    return
  end
  if row.block.kind == 'older' then
    acts.older(chat)
  elseif row.block.kind == 'question' then
    local chosen = (row.answers or {})[offset]
    for _, option in ipairs(row.block.question.options) do
      if option.id == chosen then
        dialogs.answer(chat, row.block.question, option)
        return
      end
    end
  else
    chat.transcript:toggle(line)
  end
end

---@param chat singletree.Chat
---@param buf integer
function M.transcript(chat, buf)
  local function here()
    return (chat.transcript:at(vim.api.nvim_win_get_cursor(0)[1] - 1))
  end
  for _, keys in ipairs({ '<CR>', '<Tab>', 'za' }) do
    map(buf, 'n', keys, function()
      M.act(chat)
    end, 'open or close, answer, load more')
  end
  map(buf, 'n', 'gd', function()
    views.diff(chat, here())
  end, 'the diff of this call in a window')
  map(buf, 'n', 'go', function()
    views.output(chat, here())
  end, 'the whole output of this call in a window')
  map(buf, 'n', 'gf', function()
    views.file(here())
  end, 'the file this call is about')
  map(buf, 'n', 'q', function()
    chat:hide()
  end, 'close both windows')
  for _, keys in ipairs({ 'i', 'a', 'o' }) do
    map(buf, 'n', keys, function()
      chat:show()
      vim.cmd.startinsert({ bang = true })
    end, 'write a prompt')
  end
  M.both(chat, buf)
end

--- The window from which the person came, for what stands in it.
---@param chat singletree.Chat
---@param how? 'prompt'|'steer'|'followUp'
local function submit(chat, how)
  acts.submit(chat, how, { context = context.editor(layout.elsewhere()) })
end

---@param chat singletree.Chat
---@param buf integer
function M.prompt(chat, buf)
  vim.bo[buf].omnifunc = "v:lua.require'singletree.complete'.omni"
  map(buf, 'n', '<CR>', function()
    submit(chat)
  end, 'send; steers while a turn runs')
  map(buf, { 'n', 'i' }, '<C-s>', function()
    submit(chat)
  end, 'send; steers while a turn runs')
  map(buf, { 'n', 'i' }, '<M-CR>', function()
    submit(chat, chat:running() and 'followUp' or nil)
  end, 'send when the running turn has ended')
  for keys, step in pairs({ ['<C-p>'] = 1, ['<C-n>'] = -1 }) do
    map(buf, { 'n', 'i' }, keys, function()
      if vim.fn.pumvisible() == 1 then
        vim.api.nvim_feedkeys(vim.keycode(keys), 'n', false)
      else
        chat.input:walk(step)
      end
    end, step == 1 and 'the prompt before' or 'the prompt after')
  end
  M.both(chat, buf)
end

---@param chat singletree.Chat
---@param buf integer
function M.both(chat, buf)
  map(buf, 'n', '<C-c>', function()
    acts.stop(chat)
  end, 'stop')
  map(buf, 'n', '<C-t>', '<Cmd>Singletree tree<CR>', 'the tree')
  map(buf, 'n', 'g?', function()
    views.help('singletree-keys')
  end, 'the keys')
end

return M
