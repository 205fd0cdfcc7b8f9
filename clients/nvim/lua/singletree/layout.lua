--- Where the two windows stand. Opened only when the person asks; what is shown elsewhere stays as it is.
--- Read next: chat.lua.
local config = require('singletree.config')

local M = {}

---@param buf integer
---@return integer|nil
function M.window(buf)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == buf then
      return win
    end
  end
end

local SPLITS = { right = 'botright vsplit', left = 'topleft vsplit', below = 'botright split', tab = 'tab split' }

---@param win integer
---@param options table<string, any>
local function set(win, options)
  for option, value in pairs(options) do
    vim.api.nvim_set_option_value(option, value, { win = win, scope = 'local' })
  end
end

local PLAIN = {
  number = false,
  relativenumber = false,
  signcolumn = 'no',
  foldcolumn = '0',
  foldenable = false,
  spell = false,
  list = false,
  wrap = true,
  linebreak = true,
  cursorline = false,
}

---@param buf integer
---@param options table<string, any>
---@return integer
local function show(buf, options)
  local win = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(win, buf)
  set(win, PLAIN)
  set(win, options)
  return win
end

---@param buf integer
---@param bar string
---@param below integer|nil the prompt's window, if it is there already
---@return integer
local function transcript(buf, bar, below)
  local now = config.now
  local beside = now.position == 'right' or now.position == 'left'
  if below then
    vim.api.nvim_set_current_win(below)
    vim.cmd('aboveleft split')
  else
    vim.cmd(SPLITS[now.position] or SPLITS.right)
  end
  local win = show(buf, {
    winbar = bar,
    conceallevel = now.conceal,
    concealcursor = 'nvc',
    breakindent = true,
    winfixwidth = beside,
    statusline = ' %<transcript%=<CR> opens · q closes · g? keys ',
  })
  if beside and not below then
    local width = now.width < 1 and math.floor(vim.o.columns * now.width) or now.width
    vim.api.nvim_win_set_width(win, math.max(20, width))
  elseif below then
    vim.api.nvim_win_set_height(below, now.height)
  end
  vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  return win
end

---@param buf integer
---@param above integer
---@param line string
---@return integer
local function prompt(buf, above, line)
  vim.api.nvim_set_current_win(above)
  vim.cmd('belowright split')
  local win = show(buf, { winbar = '', winfixheight = true, conceallevel = 0, statusline = line })
  vim.api.nvim_win_set_height(win, config.now.height)
  return win
end

--- Show both buffers in this tab and stand in the prompt. False: there is no room for both.
---@param buf integer the transcript
---@param input integer the prompt
---@param bars { above: string, below: string } the winbar of the transcript, the statusline of the prompt
---@return boolean
function M.open(buf, input, bars)
  local below = M.window(input)
  local good = pcall(function()
    local win = M.window(buf) or transcript(buf, bars.above, below)
    below = below or prompt(input, win, bars.below)
  end)
  if below then
    vim.api.nvim_set_current_win(below)
  end
  return good
end

--- Close the windows of these buffers in this tab; Neovim's last window stays and shows something else.
---@param buffers integer[]
function M.close(buffers)
  for _, buf in ipairs(buffers) do
    local win = M.window(buf)
    if win and #vim.api.nvim_tabpage_list_wins(0) > 1 then
      vim.api.nvim_win_close(win, true)
    elseif win then
      vim.api.nvim_win_call(win, function()
        vim.cmd.enew()
      end)
    end
  end
end

--- A window across the bottom for something that the person wants to see. When it goes, the others are as they were.
---@param buf integer
---@param options? table<string, any>
function M.below(buf, options)
  local sizes = vim.fn.winrestcmd()
  vim.cmd('botright split')
  local win = show(buf, options or {})
  vim.api.nvim_create_autocmd('WinClosed', {
    pattern = tostring(win),
    once = true,
    callback = function()
      vim.schedule(function()
        pcall(vim.cmd, sizes)
      end)
    end,
  })
end

--- A window of this tab that holds a file, for what the person wants to look at.
---@return integer|nil
function M.elsewhere()
  local previous = vim.fn.win_getid(vim.fn.winnr('#'))
  local windows = vim.list_extend({ previous }, vim.api.nvim_tabpage_list_wins(0))
  for _, win in ipairs(windows) do
    if win ~= 0 and vim.bo[vim.api.nvim_win_get_buf(win)].buftype == '' and vim.fn.win_gettype(win) == '' then
      return win
    end
  end
end

return M
