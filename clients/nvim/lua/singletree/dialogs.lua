--- Answers that are more than a choice: one line, a text, a form, the reason of a no. They open when the person
--- asks for them, never by themselves. Read next: questions.lua.
local layout = require('singletree.layout')
local say = require('singletree.say')

local M = {}

--- A buffer to write an answer in; writing it (:w) sends it.
---@param title string
---@param prefill string
---@param filetype string
---@param done fun(said: string): boolean whether it was taken
local function editor(title, prefill, filetype, done)
  local buf = vim.api.nvim_create_buf(false, true)
  local line = ' ' .. title:gsub('%%', '%%%%'):gsub('%c', ' ') .. '%=:w answers '
  layout.below(buf, { statusline = line })
  vim.api.nvim_buf_set_name(buf, 'singletree://answer/' .. buf)
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].filetype = 'acwrite', 'wipe', filetype
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(prefill, '\n', { plain = true }))
  vim.bo[buf].modified = false
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buf,
    callback = function()
      local said = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
      if done(said) then
        vim.bo[buf].modified = false
        vim.schedule(function()
          pcall(vim.api.nvim_buf_delete, buf, { force = true })
        end)
      end
    end,
  })
end

--- An object to fill in: each property of the schema with its default, or something of its type.
---@param schema table
---@return string
function M.form(schema)
  local empty = { string = '', number = 0, integer = 0, boolean = false, array = {}, object = vim.empty_dict() }
  local lines = {}
  local names = vim.tbl_keys(schema.properties or {})
  table.sort(names)
  for index, name in ipairs(names) do
    local property = schema.properties[name]
    local value = property.default
    if value == nil then
      value = property.enum and property.enum[1] or empty[property.type] or vim.NIL
    end
    local comma = index < #names and ',' or ''
    lines[index] = ('  %s: %s%s'):format(vim.json.encode(name), vim.json.encode(value), comma)
  end
  return '{\n' .. table.concat(lines, '\n') .. '\n}'
end

---@type table<string, fun(chat: singletree.Chat, question: singletree.Question)>
local opens = {
  permission = function(chat, question)
    vim.ui.input({ prompt = 'Denied, because: ' }, function(said)
      if not said then
        return
      end
      local deny = vim.iter(question.params.options):find(function(option)
        return option.kind == 'deny' and option.scope == 'once'
      end)
      local answer = deny and { outcome = 'selected', optionId = deny.id } or { outcome = 'cancelled' }
      answer.feedback = said ~= '' and said or nil
      chat:reply(question, answer)
    end)
  end,
  input = function(chat, question)
    local options = { prompt = question.title .. ' ', default = question.params.prefill }
    vim.ui.input(options, function(said)
      if said then
        chat:reply(question, { value = said })
      end
    end)
  end,
  editor = function(chat, question)
    editor(question.title, question.params.prefill or '', 'markdown', function(said)
      chat:reply(question, { value = said })
      return true
    end)
  end,
  form = function(chat, question)
    local prefill = question.params.prefill or M.form(question.params.jsonSchema or {})
    editor(question.title, prefill, 'json', function(said)
      local good, value = pcall(vim.json.decode, said)
      if good and type(value) == 'table' then
        chat:reply(question, { value = value })
        return true
      end
      say.say('singletree: this is no JSON object yet.', vim.log.levels.WARN)
      return false
    end)
  end,
}

--- Give an answer that was chosen; where it needs more than a choice, ask for that.
---@param chat singletree.Chat
---@param question singletree.Question
---@param option singletree.Option
function M.answer(chat, question, option)
  if option.answer then
    chat:reply(question, option.answer)
  else
    opens[question.kind](chat, question)
  end
end

--- Choose the answer to a question in a list.
---@param chat singletree.Chat
---@param question singletree.Question
function M.choose(chat, question)
  vim.ui.select(question.options, {
    prompt = question.title:gsub('%s*\n%s*', ' '),
    format_item = function(option)
      return option.label
    end,
  }, function(option)
    if option then
      M.answer(chat, question, option)
    end
  end)
end

return M
