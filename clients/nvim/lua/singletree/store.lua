--- A session as a person sees it: what the daemon tells goes in, blocks and what has changed come out.
---
--- Pure: it knows no buffer, no window and no wire, so it can be tried with tables alone. A block is a piece of
--- the transcript (entries.lua); the body holds the conversation in its order, and behind it stands the tail:
--- open questions and texts that wait. Read next: events.lua (what each event does), transcript.lua (who draws).
local entries = require('singletree.entries')
local events = require('singletree.events')

local M = {}

--- What has changed: `put` a block (new, or drawn anew), `append` text to it, `drop` it, `reset` everything,
--- or only `info` beside the transcript.
---@class singletree.Change
---@field op 'put'|'append'|'drop'|'reset'|'info'
---@field block? singletree.Block
---@field index? integer the place of the block in `order`
---@field new? boolean
---@field text? string

--- What stands beside the transcript.
---@class singletree.Info
---@field phase singletree.Phase
---@field turn? string
---@field model? string
---@field thinking? string
---@field name? string
---@field mode? string
---@field usage? singletree.ContextUsage
---@field leaf? string
---@field trusted? boolean
---@field readOnly? boolean
---@field signs table<string, string> short words of extensions
---@field title? string

---@class singletree.Store
---@field session? string
---@field cwd? string
---@field info singletree.Info
---@field order singletree.Block[] the body, then the tail
---@field body integer how many of them are the body
---@field cursor? singletree.Cursor
---@field queue singletree.QueueItem[]
---@field skipped string[] what the folder brings along and does not count
---@field before? string where the page of history before this one ends
---@field signs integer notices of extensions so far
---@field stale boolean the conversation stands elsewhere now: ask for it anew
---@field private by_id table<string, singletree.Block>
---@field private heard table<string, integer> per streaming part: the next piece
---@field private changes singletree.Change[]
local Store = {}
Store.__index = Store

local ENDED = { completed = true, failed = true, cancelled = true, rejected = true }

---@return singletree.Store
function M.new()
  return setmetatable({
    info = { phase = 'idle', signs = {} },
    signs = 0,
    order = {},
    body = 0,
    queue = {},
    skipped = {},
    stale = false,
    by_id = {},
    heard = {},
    changes = {},
  }, Store)
end

--- What has changed since this was last asked.
---@return singletree.Change[]
function Store:take()
  local changes = self.changes
  self.changes = {}
  return changes
end

---@param id string
---@return singletree.Block|nil
function Store:get(id)
  return self.by_id[id]
end

---@param change singletree.Change
function Store:tell(change)
  self.changes[#self.changes + 1] = change
end

---@param block singletree.Block
---@return integer
function Store:index(block)
  for index = #self.order, 1, -1 do
    if self.order[index] == block then
      return index
    end
  end
  error('no such block: ' .. block.id)
end

--- Put a block at the end of the body, or of the tail; one that is there takes what the new one knows.
---@param block singletree.Block
---@param where? 'body'|'tail'
---@return singletree.Block
function Store:put(block, where)
  local known = self.by_id[block.id]
  if known then
    entries.whole(known)
    local tool = known.tool and vim.tbl_extend('force', known.tool, block.tool or {})
    for key, value in pairs(block) do
      known[key] = value
    end
    known.tool = tool
    self:tell({ op = 'put', block = known, index = self:index(known) })
    return known
  end
  if where ~= 'tail' then
    self.body = self.body + 1
  end
  local index = where == 'tail' and #self.order + 1 or self.body
  table.insert(self.order, index, block)
  self.by_id[block.id] = block
  self:tell({ op = 'put', block = block, index = index, new = true })
  return block
end

---@param id string
function Store:drop(id)
  local block = self.by_id[id]
  if not block then
    return
  end
  local index = self:index(block)
  table.remove(self.order, index)
  if index <= self.body then
    self.body = self.body - 1
  end
  self.by_id[id] = nil
  self:tell({ op = 'drop', block = block, index = index })
end

--- A line of ours in the conversation.
---@param id string
---@param level 'error'|'warn'|'info'
---@param said string
function Store:notice(id, level, said)
  self:put({ id = id, kind = 'notice', level = level, text = said })
end

--- An entry of the session. What told itself already by streaming is set right by it.
---@param entry singletree.Entry
function Store:entry(entry)
  for _, block in ipairs(entries.blocks(entry)) do
    local known = self.by_id[block.id]
    if known and known.tool and block.tool and ENDED[known.tool.status] then
      block.tool.status = nil -- its own events say better how it ended
    end
    local same = known and not block.tool and entries.whole(known) == block.text and not known.live
    for index, along in ipairs(block.along or {}) do
      block.along[index] = along:gsub(vim.pesc((self.cwd or '') .. '/'), '')
    end
    if not (same or (block.kind == 'notice' and block.level == 'info' and self.body == 0)) then
      block.live = false
      self:put(block)
    end
  end
end

--- Everything anew, from the answer to open, new, switch or attach.
---@param attached singletree.Attached
function Store:snapshot(attached)
  local fresh = M.new()
  for key, value in pairs(fresh) do
    self[key] = value
  end
  self.session, self.cursor = attached.sessionId, attached.cursor
  events.state(self, attached.state)
  self:page(attached.history)
  for _, event in ipairs(attached.tools or {}) do
    events.handle(self, event)
  end
  for _, streaming in ipairs(attached.inFlight or {}) do
    events.in_flight(self, streaming)
  end
  events.skipped(self, attached.state.skipped)
  for _, warning in ipairs(attached.state.warnings or {}) do
    self:notice('warning:' .. warning.code .. warning.message, 'warn', warning.message)
  end
  self.changes = { { op = 'reset' } }
end

---@param history singletree.History
function Store:page(history)
  self.before = history.prevCursor
  if self.before then
    self:put({ id = 'older', kind = 'older', text = '' })
  end
  for _, entry in ipairs(history.entries) do
    self:entry(entry)
  end
end

--- An older page of history goes before everything.
---@param list singletree.Entry[]
---@param before string|nil where the page before it ends
function Store:older(list, before)
  local page = M.new()
  page:page({ entries = list, prevCursor = before })
  self:drop('older')
  for index, block in ipairs(page.order) do
    local known = self.by_id[block.id]
    if known then -- the call is in this page, its result was in the next one
      block.tool = vim.tbl_extend('force', block.tool, known.tool)
      self:drop(block.id)
    end
    table.insert(self.order, index, block)
    self.by_id[block.id] = block
  end
  self.body = self.body + #page.order
  self.before = before
  self.changes = { { op = 'reset' } }
end

--- An event of the daemon. False: something was missed, ask anew.
---@param envelope singletree.EventParams
---@return boolean
function Store:event(envelope)
  local at = self.cursor
  if not at or envelope.epoch ~= at.epoch or envelope.seq > at.seq + 1 then
    return false
  end
  if envelope.seq == at.seq + 1 then
    self.cursor = { epoch = at.epoch, seq = envelope.seq }
    events.handle(self, envelope.event)
  end
  return true
end

--- A preview of what the next event of its item will say. One that does not join on is left out.
---@param delta singletree.DeltaParams
function Store:delta(delta)
  local key = delta.itemId .. delta.kind .. delta.part
  if delta.from == (self.heard[key] or 0) then
    self.heard[key] = delta.to
    events.grow(self, delta)
  end
end

--- What streams has come this far.
---@param streaming singletree.InFlight
function Store:hear(streaming)
  self.heard[streaming.itemId .. streaming.kind .. streaming.part] = streaming.to
end

--- A question stands in the tail until it has its answer.
---@param question singletree.Question
function Store:ask(question)
  self:put({ id = 'ask:' .. question.requestId, kind = 'question', text = '', question = question }, 'tail')
end

---@param request string
function Store:answered(request)
  self:drop('ask:' .. request)
end

--- The questions that wait, oldest first.
---@return singletree.Question[]
function Store:questions()
  local found = {}
  for index = self.body + 1, #self.order do
    found[#found + 1] = self.order[index].question
  end
  return found
end

--- What the person has said, oldest first.
---@return string[]
function Store:said()
  local texts = {}
  for _, block in ipairs(self.order) do
    if block.kind == 'user' then
      texts[#texts + 1] = block.text
    end
  end
  return texts
end

return M
