-- The pure parts of the Neovim client, and the buffer they are drawn into, tried with tables: `nvim -l`.
-- Each test is a function; the first that fails ends the run with its words.
local root = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h')
vim.opt.runtimepath:prepend(root .. '/clients/nvim')

local draw = require('singletree.draw')
local markdown = require('singletree.markdown')
local questions = require('singletree.questions')
local store_of = require('singletree.store')
local text = require('singletree.text')
local transcript_of = require('singletree.transcript')

local function same(got, wanted)
  assert(vim.deep_equal(got, wanted), '\n got ' .. vim.inspect(got) .. '\nnot ' .. vim.inspect(wanted))
end

local STATE = {
  sessionId = 's',
  cwd = '/w',
  phase = 'idle',
  queue = { items = {}, version = 0 },
  contextUsage = { tokens = 0, window = 1000, percent = 0 },
  warnings = {},
}

local function said(id, role, content)
  return { type = 'message', id = id, message = { role = role, content = content } }
end

--- A session as the daemon opens it.
local function opened(entries, more)
  local store = store_of.new()
  store:snapshot(vim.tbl_extend('force', {
    sessionId = 's',
    state = STATE,
    history = { entries = entries or {} },
    inFlight = {},
    tools = {},
    pending = {},
    cursor = { epoch = 'e', seq = 0 },
  }, more or {}))
  return store
end

local function tell(store, ...)
  for _, event in ipairs({ ... }) do
    local seq = store.cursor.seq + 1
    assert(store:event({ sessionId = 's', epoch = 'e', seq = seq, event = event }))
  end
end

local function grow(store, words, from, item, kind)
  item, kind = item or 'a', kind or 'text'
  store:delta({ itemId = item, kind = kind, part = 0, from = from, to = from + 1, text = words })
end

--- What stands in the buffer of a transcript that heard of every single change.
local function shown(transcript)
  transcript:apply(transcript.store:take())
  return vim.api.nvim_buf_get_lines(transcript.buf, 0, -1, false)
end

local made = 0

local function shows(store)
  made = made + 1
  local transcript = transcript_of.new(store, 'singletree://test/' .. made)
  transcript:ensure()
  return transcript
end

local STARTED = { type = 'item_started', itemId = 'a', kind = 'text', part = 0 }

local function ended(words)
  return { type = 'item_ended', itemId = 'a', kind = 'text', part = 0, content = words and { type = 'text', text = words } }
end

local tests = {}

function tests.lines_of_any_text()
  same(text.lines(''), { '' })
  same(text.lines('a\r\nb\n'), { 'a', 'b', '' })
  same(text.lines('a\rb\0\27[1m'), { 'a\rb\0\27[1m' })
  local wide = ('é'):rep(text.LONGEST)
  local lines = text.lines(wide)
  same(table.concat(lines), wide)
  for _, line in ipairs(lines) do
    assert(#line <= text.LONGEST and vim.fn.strchars(line) * 2 == #line, 'a character was cut')
  end
  same(#text.lines(('x'):rep(1048576)), 256)
end

function tests.a_brief_text_is_one_line()
  same(text.brief('one\n  two', 20), 'one two')
  same(text.brief('漢字漢字漢字', 5), '漢字…')
end

function tests.what_streams_is_what_is_shown()
  local store = opened()
  local transcript = shows(store)
  tell(store, STARTED)
  same(shown(transcript), { '' })
  for index, piece in ipairs({ 'Hel', 'lo.\r', '\nAnd', ' more\n' }) do
    grow(store, piece, index - 1)
    shown(transcript)
  end
  same(shown(transcript), { 'Hello.', 'And more', '' })
  tell(store, ended('Hello.\r\nAnd more\n'))
  same(shown(transcript), { 'Hello.', 'And more' })
end

function tests.the_end_of_an_item_counts_whatever_the_pieces_said()
  local store = opened()
  local transcript = shows(store)
  tell(store, STARTED)
  grow(store, 'one ', 0)
  grow(store, 'three', 2) -- two was left out
  shown(transcript)
  tell(store, ended('one two three'))
  same(shown(transcript), { 'one two three' })
  tell(store, STARTED, ended(nil))
  same(shown(transcript), { '' })
end

function tests.an_event_that_is_missing_is_noticed()
  local store = opened()
  assert(store:event({ epoch = 'e', seq = 0, event = STARTED }), 'an old one is no harm')
  same(#store.order, 0)
  assert(not store:event({ epoch = 'e', seq = 2, event = STARTED }))
  assert(not store:event({ epoch = 'other', seq = 1, event = STARTED }))
  tell(store, { type = 'of the future', anything = true })
end

function tests.a_call_is_a_line_that_opens()
  local store = opened()
  local transcript = shows(store)
  local call = { type = 'toolCall', id = 'c', name = 'bash', arguments = { command = 'ls' } }
  tell(
    store,
    { type = 'item_started', itemId = 'a', kind = 'tool', part = 0, toolCallId = 'c', name = 'bash' },
    { type = 'tool', toolCallId = 'c', status = 'running', title = 'bash ls', input = { command = 'ls' } }
  )
  same(shown(transcript), { '▸ ● bash ls' })
  grow(store, 'a.txt\n', 0, 'c', 'toolOutput')
  tell(store, { type = 'entry', entry = said('a', 'assistant', { call }) })
  same(shown(transcript), { '▸ ● bash ls' })
  assert(transcript:toggle(0))
  same(shown(transcript), { '▾ ● bash ls', 'command: ls', 'a.txt' })
  tell(store, {
    type = 'tool',
    toolCallId = 'c',
    status = 'completed',
    durationMs = 1500,
    result = { content = { { type = 'text', text = 'a.txt\nb.txt' } }, isError = false },
  })
  same(shown(transcript), { '▾ ✓ bash ls  1.5 s', 'command: ls', 'a.txt', 'b.txt' })
  assert(transcript:toggle(0))
  same(shown(transcript), { '▸ ✓ bash ls  1.5 s' })
end

function tests.history_looks_as_it_did_live()
  local call = { type = 'toolCall', id = 'c', name = 'read', arguments = { path = 'a.txt' } }
  local result = { type = 'message', id = 'r', message = { role = 'toolResult', toolCallId = 'c', toolName = 'read' } }
  result.message.content = { { type = 'text', text = 'one' } }
  local store = opened({
    said('u', 'user', { { type = 'text', text = 'hi' }, { type = 'text', text = 'The editor shows x.' } }),
    said('a', 'assistant', { { type = 'thinking', thinking = 'hm' }, { type = 'text', text = 'ho' }, call }),
    result,
  })
  same(shown(shows(store)), {
    'hi',
    '  + The editor shows x.',
    '',
    '▸ Thought: hm',
    '',
    'ho',
    '',
    '▸ ✓ read a.txt',
  })
  same(store:said(), { 'hi' })
end

function tests.older_pages_go_before()
  local store = opened({ said('u2', 'user', 'two') }, { history = { entries = { said('u2', 'user', 'two') }, prevCursor = 'u2' } })
  local transcript = shows(store)
  same(shown(transcript), { '▸ There is more before this: <CR> shows it', '', 'two' })
  store:older({ said('u1', 'user', 'one') }, nil)
  same(shown(transcript), { 'one', '', 'two' })
end

function tests.questions_and_waiting_texts_stand_at_the_end()
  local store = opened()
  local transcript = shows(store)
  local content = { { type = 'text', text = 'wait' }, { type = 'text', text = 'The editor shows a.', context = true } }
  local item = { queueId = 'q', kind = 'steer', content = content, paused = false }
  tell(store, { type = 'queue', items = { item }, version = 1 }, STARTED)
  grow(store, 'streams', 0)
  same(shown(transcript), { 'streams', '', 'wait', '  + The editor shows a.' })
  store:ask({ requestId = 'p', title = 'May I?', said = {}, options = { { id = 'y', label = 'Yes' } } })
  same(vim.list_slice(shown(transcript), 5, 7), { '', '? May I?', '  ▹ Yes' })
  local row, offset = transcript:at(6)
  same({ row.answers[offset], row.block.question.requestId }, { 'y', 'p' })
  same(transcript:at(6).answers[2], nil)
  tell(store, { type = 'permission', requestId = 'p', status = 'allowed' }, { type = 'queue', items = {}, version = 2 })
  same(shown(transcript), { 'streams' })
end

function tests.a_failed_turn_says_what_to_do()
  local store = opened()
  tell(store, {
    type = 'turn_ended',
    turnId = 't',
    reason = 'error',
    error = { code = 'auth_failed', message = 'The key is no good.', hint = 'Log in.', retryable = false },
  })
  same(shown(shows(store)), { 'The key is no good.', 'Log in.' })
end

function tests.a_question_says_what_its_title_does_not()
  local subject = { type = 'command', command = 'make', cwd = '/w', paths = { '/home/me/.ssh' } }
  local asked = { requestId = 'r', sessionId = 's', title = 'run', subject = subject, reason = 'Why.', options = {} }
  local question = questions.permission(asked)
  same({ question.title, question.said }, { 'run\nmake', { 'in /w', '/home/me/.ssh', 'Why.' } })
  subject = { type = 'edit', paths = { '/w/a' }, diff = '+x' }
  question = questions.permission(vim.tbl_extend('force', asked, { title = 'edit: /w/a', subject = subject }))
  same({ question.said, question.diff }, { { 'Why.' }, '+x' })
end

function tests.a_turn_that_ended_otherwise_says_how()
  local store = opened()
  for _, reason in ipairs({ 'max_tokens', 'max_turns', 'refusal' }) do
    tell(store, { type = 'turn_ended', turnId = reason, reason = reason })
  end
  local told = { 'The answer was cut off: too long.', 'The turn reached its limit of steps.', 'The model refused.' }
  same(shown(shows(store)), { told[1], '', told[2], '', told[3] })
end

function tests.markdown_lights_only_its_own_text()
  local lights = markdown.lights({ 'a **b**', '```lua', 'local x', '```', '```' })
  local groups = {}
  for _, light in ipairs(lights) do
    groups[light.group or ''] = true
    assert(light.stop_row <= 4)
  end
  assert(groups['@markup.strong.markdown_inline'] and groups['@keyword.lua'], vim.inspect(groups))
  same(markdown.lights({ ('x'):rep(markdown.LONGEST) }), {})
end

--- Whatever happens in whatever order, the buffer equals one that is drawn at once.
function tests.any_changes_end_in_what_is_drawn_at_once()
  math.randomseed(7)
  local store = opened()
  local transcript = shows(store)
  local open = {}
  for step = 1, 600 do
    local id = 'i' .. math.random(40)
    local chance = math.random(8)
    if chance <= 2 then
      store:put({ id = id, kind = 'text', text = ('x\n'):rep(math.random(0, 4)) .. step, live = chance == 1 })
    elseif chance == 3 then
      store:put({ id = 't' .. id, kind = 'tool', text = '', tool = { id = id, name = 'n', status = 'running' } })
    elseif chance == 4 then
      store:put({ id = 'q' .. id, kind = 'queue', text = 'w' .. step, item = { kind = 'steer' } }, 'tail')
    elseif chance == 5 then
      store:drop(({ '', 't', 'q' })[math.random(3)] .. id)
    elseif chance == 6 then
      transcript:apply(store:take())
      open[#open + 1] = transcript:toggle(math.random(0, 60))
    else
      local block = store:get(id)
      if block and block.live then
        block.pieces = block.pieces or { block.text }
        table.insert(block.pieces, 'y\nz')
        store:tell({ op = 'append', block = block, text = 'y\nz' })
      end
    end
    local got = shown(transcript)
    transcript:reset()
    same(got, shown(transcript))
  end
end

function tests.what_does_not_count_stands_there_until_the_folder_is_trusted()
  local store = opened()
  local config = { type = 'config', model = 'a/b', thinking = 'off', mode = 'ask', trusted = false }
  config.skipped = { { kind = 'skills', path = '/w/.pi/skills' } }
  tell(store, config)
  local notice = store:get('skipped')
  assert(notice and notice.text:find('/w/.pi/skills', 1, true) and notice.text:find(':Singletree trust', 1, true))
  tell(store, vim.tbl_extend('force', config, { trusted = true, skipped = {} }))
  assert(store:get('skipped') == nil and store.info.trusted)
end

function tests.in_a_narrow_window_the_keys_stay_and_the_title_goes()
  local line = require('singletree.status').along(0)
  local narrow = vim.api.nvim_eval_statusline(line, { maxwidth = 42 }).str
  assert(narrow:find('<C-s> sends · <C-c> stops · g? keys', 1, true), narrow)
end

for name, test in pairs(tests) do
  local good, problem = xpcall(test, debug.traceback)
  if not good then
    io.stderr:write(name .. ': ' .. problem .. '\n')
    os.exit(1)
  end
  io.stdout:write(name .. '\n')
end
