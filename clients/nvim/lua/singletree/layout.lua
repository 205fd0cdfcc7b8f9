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
---@param bar string
---@return integer
local function transcript(buf, bar)
  local now = config.now
  vim.cmd(SPLITS[now.position] or SPLITS.right)
  local win = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(win, buf)
  if now.position == 'right' or now.position == 'left' then
    local width = now.width < 1 and math.floor(vim.o.columns * now.width) or now.width
    vim.api.nvim_win_set_width(win, math.max(20, width))
  end
  set(win, PLAIN)
  local line = ' transcript%=%<<CR> opens · q closes · g? keys '
  set(win, { winbar = bar, conceallevel = now.conceal, concealcursor = 'nvc', breakindent = true, statusline = line })
  set(win, { winfixwidth = now.position ~= 'tab' and now.position ~= 'below' })
  vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  return win
end

---@param buf integer
---@param beside integer
---@return integer
local function prompt(buf, beside)
  vim.api.nvim_set_current_win(beside)
  vim.cmd('belowright split')
  local win = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(win, buf)
  vim.api.nvim_win_set_height(win, config.now.height)
  set(win, PLAIN)
  local line = ' prompt%=%<<C-s> sends · <C-c> stops · g? keys '
  set(win, { winbar = '', winfixheight = true, statusline = line })
  return win
end

--- Show both buffers in this tab and stand in the prompt.
---@param buf integer the transcript
---@param input integer the prompt
---@param bar string the winbar of the transcript
---@return integer win of the prompt
function M.open(buf, input, bar)
  local win = M.window(buf) or transcript(buf, bar)
  local below = M.window(input) or prompt(input, win)
  vim.api.nvim_set_current_win(below)
  return below
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
