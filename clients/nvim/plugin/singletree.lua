-- The one command. Everything else is loaded when it is first used.
if vim.g.loaded_singletree then
  return
end
vim.g.loaded_singletree = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.api.nvim_create_user_command('Singletree', function()
    vim.notify('singletree needs Neovim 0.10 or newer', vim.log.levels.ERROR)
  end, { nargs = '*', range = true })
  return
end

vim.api.nvim_create_user_command('Singletree', function(given)
  require('singletree.commands').run(given)
end, {
  nargs = '*',
  range = true,
  desc = 'Talk with the agent of this workspace',
  complete = function(_, line)
    return require('singletree.commands').complete(line)
  end,
})
