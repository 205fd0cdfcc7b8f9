-- Made by `singletree describe lua` from daemon/singletree/rpc/protocol/. Do not edit.

--- Nothing to tell but that it is done.
---@class singletree.Empty

--- Which session: by id, or the current one of a workspace folder (URI).
---
--- With neither, the only session this client has open.
---@class singletree.SessionParams
---@field sessionId? string
---@field workspace? string

--- A request that may take long: progress goes to `workDoneToken`, `$/cancelRequest` ends it.
---@class singletree.LongParams : singletree.SessionParams
---@field workDoneToken? integer|string

---@alias singletree.ErrorCode "auth_failed"|"auth_required"|"cancelled"|"cancelled_by_extension"|"context_overflow"|"denied"|"entry_not_found"|"extension_failed"|"input_empty"|"input_rejected"|"internal"|"locked"|"message_too_large"|"no_active_turn"|"no_model"|"no_workspace"|"not_a_user_message"|"not_found"|"not_steerable"|"nothing_to_compact"|"overloaded"|"provider_error"|"queue_full"|"quota_exceeded"|"rate_limited"|"session_busy"|"session_error"|"session_not_found"|"session_read_only"|"session_unreadable"|"settings_invalid"|"stale"|"tool_failed"|"too_many_requests"|"turn_mismatch"|"unsupported"|"unsupported_protocol_version"|"untrusted_workspace"|"workspace_not_found"

--- What the provider said, as far as it said something.
---@class singletree.ProviderInfo
---@field name? string
---@field status? integer

--- An error as a value inside events: a code, one line for a person, what to do about it.
---@class singletree.ErrorInfo
---@field code string
---@field message string
---@field retryable boolean
---@field retryAfterMs? integer
---@field hint? string
---@field detail? table<string, any>
---@field provider? singletree.ProviderInfo

--- One thing wrong with the params.
---@class singletree.ParamError
---@field pointer string
---@field message string

--- `error.data` of a failed request. Only what is known is there.
---
--- `errors` goes with -32602, `ref` (a mark in the daemon's log) with -32603.
---@class singletree.ErrorData
---@field code? string
---@field retryable? boolean
---@field retryAfterMs? integer
---@field hint? string
---@field detail? table<string, any>
---@field provider? singletree.ProviderInfo
---@field errors? singletree.ParamError[]
---@field ref? string

---@alias singletree.ContentBlock singletree.TextBlock|singletree.ImageBlock|singletree.AudioBlock|singletree.ResourceLink|singletree.ResourceBlock|singletree.SelectionBlock|singletree.DiagnosticBlock|singletree.FileMention

---@alias singletree.Content string|singletree.ContentBlock[]

--- A place in a document, counted from 0.
---@class singletree.Position
---@field line integer
---@field character integer

--- From `start` up to, not including, `end`.
---@class singletree.Range
---@field start singletree.Position
---@field ["end"] singletree.Position

--- A run of text. `context`: an editor added it; the person wrote none of it.
---@class singletree.TextBlock
---@field type "text"
---@field text string
---@field context? boolean

--- A picture; `data` is base64. What it is, its bytes say; one that no model takes is a note.
---@class singletree.ImageBlock
---@field type "image"
---@field data string
---@field mimeType string
---@field uri? string

--- A recording; `data` is base64. `contentKinds` says whether the daemon takes it.
---@class singletree.AudioBlock
---@field type "audio"
---@field data string
---@field mimeType string

--- A file or page named by URI; its content is read when it is needed.
---@class singletree.ResourceLink
---@field type "resource_link"
---@field uri string
---@field name? string
---@field title? string
---@field description? string
---@field mimeType? string
---@field size? integer

--- The text or the bytes (base64) of a resource; one of them is there.
---@class singletree.ResourceContents
---@field uri string
---@field mimeType? string
---@field text? string
---@field blob? string

--- A resource with its content in the message.
---@class singletree.ResourceBlock
---@field type "resource"
---@field resource singletree.ResourceContents

--- A selected piece of a document.
---
--- Without `text` it is cut out of the open document, if `version` is still its version; otherwise
--- the model is told the place alone.
---@class singletree.SelectionBlock
---@field type "selection"
---@field uri string
---@field range singletree.Range
---@field version? integer
---@field text? string

--- A problem an editor shows: an LSP Diagnostic and the document it stands in.
---@class singletree.DiagnosticBlock
---@field type "diagnostic"
---@field uri string
---@field diagnostic table<string, any>

--- A file a person named, whole or in part: told by its path, not pasted.
---
--- Their own words name it too: this does not come back with them to be written anew.
---@class singletree.FileMention
---@field type "fileMention"
---@field uri string
---@field range? singletree.Range

---@alias singletree.Phase "idle"|"running"|"requires_action"|"compacting"|"retrying"

---@alias singletree.TurnReason "end_turn"|"aborted"|"error"|"max_tokens"|"max_turns"|"refusal"

---@alias singletree.PartKind "text"|"thinking"|"tool"

---@alias singletree.DeltaKind "text"|"thinking"|"toolArgs"|"toolOutput"|"bashOutput"|"summary"

--- A place in a session's stream of events.
---
--- `epoch` is one life of the session in the daemon's memory. `entryId` (the last entry seen) is
--- what to go by when that life is over.
---@class singletree.Cursor
---@field epoch string
---@field seq integer
---@field entryId? string

--- How much of the past to send along: the last `limit` entries of the path, before an entry.
---@class singletree.HistoryParams
---@field limit? integer
---@field before? string

--- A page of the active path, oldest first. `prevCursor`: `before` of the page before it.
---@class singletree.History
---@field entries singletree.Entry[]
---@field leafId string|vim.NIL
---@field prevCursor string|vim.NIL

--- What streams at this moment: its text so far, and the `from` of its next delta (`to`).
---
--- `name` and `toolCallId` go with the arguments and the output of a tool call. `skipped`: as many
--- characters stand before `text` and are not sent again.
---@class singletree.InFlight
---@field itemId string
---@field kind singletree.DeltaKind
---@field part integer
---@field to integer
---@field text string
---@field name? string
---@field toolCallId? string
---@field skipped? integer

--- A question that waits for an answer, as it was asked.
---@class singletree.PendingRequest
---@field requestId string
---@field method string
---@field params table<string, any>

--- Something of the workspace that is not used because the workspace is not trusted.
---@class singletree.Skipped
---@field kind string
---@field path string

--- Something a person should know; `code` is stable.
---@class singletree.Notice
---@field code string
---@field message string

--- How long the session is: all entries, and the messages of the active path.
---@class singletree.Counts
---@field entries integer
---@field messages integer

--- Everything about a session but its entries.
---
--- `model` is `provider/id`; null where none can be used. `images`: it is shown pictures, not notes
--- in their place. `tools` are the active ones. `mode` is the permission mode. `path` is null until
--- something was said. `pending` names the open questions. `treeVersion` grows with each change of
--- the tree.
---@class singletree.SessionState
---@field sessionId string
---@field cwd string
---@field path string|vim.NIL
---@field name string|vim.NIL
---@field phase singletree.Phase
---@field turnId string|vim.NIL
---@field model string|vim.NIL
---@field images boolean
---@field thinking singletree.ThinkingLevel
---@field tools string[]
---@field mode string
---@field queue singletree.Queue
---@field leafId string|vim.NIL
---@field treeVersion integer
---@field contextUsage singletree.ContextUsage
---@field counts singletree.Counts
---@field pending string[]
---@field trusted boolean
---@field skipped singletree.Skipped[]
---@field readOnly boolean
---@field warnings singletree.Notice[]

--- `workspace` (URI) or `cwd` (path), or the id of a session alone.
---
--- `continue` takes the newest session of the folder, or a new one if there is none.
---@class singletree.OpenParams
---@field workspace? string
---@field cwd? string
---@field sessionId? string
---@field start? "continue"|"new"
---@field history? singletree.HistoryParams

--- The session to make current: its id, or the path of its file. With both the path counts.
---@class singletree.SwitchParams : singletree.SessionParams
---@field path? string
---@field history? singletree.HistoryParams

--- `workspace` (URI) or `cwd` (path); with neither, the only open folder.
---
--- `recover`: the path of a session file whose header cannot be read. The new session begins with
--- what can still be read of it; the file stays as it is.
---@class singletree.NewParams
---@field workspace? string
---@field cwd? string
---@field name? string
---@field recover? string

--- A session as it is now. The caller hears its events from `cursor` on.
---
--- `tools`: the calls that have no answer yet.
---@class singletree.Attached
---@field sessionId string
---@field mode "snapshot"
---@field state singletree.SessionState
---@field history singletree.History
---@field inFlight singletree.InFlight[]
---@field tools singletree.ToolEvent[]
---@field pending singletree.PendingRequest[]
---@field cursor singletree.Cursor

--- The envelope of an event. `seq` grows by one; `ts` is milliseconds since the epoch.
---@class singletree.EventParams
---@field sessionId string
---@field epoch string
---@field seq integer
---@field ts integer
---@field event singletree.SessionEvent

--- `mode` tells which of the two it is: `replay` has `events`, `snapshot` the rest.
---@class singletree.AttachResult
---@field sessionId string
---@field mode "replay"|"snapshot"
---@field events? singletree.EventParams[]
---@field state? singletree.SessionState
---@field history? singletree.History
---@field inFlight singletree.InFlight[]
---@field tools singletree.ToolEvent[]
---@field pending singletree.PendingRequest[]
---@field cursor singletree.Cursor

--- `since` is the cursor of the last event that was handled.
---@class singletree.AttachParams : singletree.SessionParams
---@field since? singletree.Cursor
---@field history? singletree.HistoryParams

--- A page: after `since`, or before `before`, or the newest. `all` means every branch.
---@class singletree.EntriesParams : singletree.SessionParams
---@field since? string
---@field before? string
---@field limit? integer
---@field branch? "active"|"all"

--- Records, oldest first. `next`: the id to go on with in the same direction.
---@class singletree.Entries
---@field entries singletree.Entry[]
---@field leafId string|vim.NIL
---@field next string|vim.NIL

--- Sessions of a folder, or of all; `query` looks in names and in what was said.
---@class singletree.ListParams
---@field workspace? string
---@field query? string
---@field limit? integer
---@field cursor? string

--- A session in a list. `preview` is the first prompt, `leafPreview` the last thing said.
---
--- Where both are empty nothing was said yet, and `path` is where the file will be.
---
--- Times are ISO 8601. `live`: open in this daemon. `parent`: the file it was forked from. `moved`:
--- its folder is gone, so it is offered in every other; open it with the folder where that is now.
---@class singletree.SessionRow
---@field sessionId string
---@field path string
---@field cwd string
---@field name string|vim.NIL
---@field preview string
---@field leafPreview? string
---@field createdAt string
---@field updatedAt string
---@field entryCount? integer
---@field parent? string
---@field live boolean
---@field moved boolean

--- Newest first. `next` is the `cursor` of the following page.
---@class singletree.SessionList
---@field sessions singletree.SessionRow[]
---@field next string|vim.NIL

--- An empty name takes it away.
---@class singletree.RenameParams : singletree.SessionParams
---@field name string

--- The name as it is now.
---@class singletree.SessionName
---@field name string|vim.NIL

--- Only a session that is not open can be deleted.
---@class singletree.DeleteParams
---@field sessionId string

--- The session need not be open. Without a `path` the text comes back, if it fits a message.
---
--- `jsonl` and `md` hold the active branch, `html` all branches. A `path` that is no whole one is
--- meant from the session's folder; a file that is there stays, unless `replace` is true.
---@class singletree.ExportParams : singletree.SessionParams
---@field format "jsonl"|"md"|"html"
---@field path? string
---@field replace? boolean

--- Where it is, or what it is.
---@class singletree.Exported
---@field path? string
---@field text? string

--- `before` leaves the entry out (a user's message comes back as text), `at` keeps it.
---@class singletree.ForkParams : singletree.SessionParams
---@field workspace? string
---@field entryId string
---@field position? "before"|"at"
---@field name? string

--- The new session, open and current. `path` is null until something is said in it.
---@class singletree.Forked
---@field sessionId string
---@field editorText? string
---@field path string|vim.NIL

--- `idle`: no turn runs. `settled`: nothing automatic remains, either.
---@class singletree.WaitParams : singletree.LongParams
---@field ["for"]? "idle"|"settled"

--- How the last turn ended.
---@class singletree.LastTurn
---@field turnId string
---@field reason singletree.TurnReason
---@field error? singletree.ErrorInfo

--- What the session does now, and how its last turn ended.
---@class singletree.Waited
---@field phase singletree.Phase
---@field lastTurn singletree.LastTurn|vim.NIL

---@alias singletree.ThinkingLevel "off"|"minimal"|"low"|"medium"|"high"|"xhigh"|"max"

---@alias singletree.AbortScope "turn"|"tool"|"retry"|"compaction"|"branchSummary"|"bash"

--- Another model or thinking level for this turn alone. `model` is `provider/id`.
---@class singletree.Overrides
---@field model? string
---@field thinking? singletree.ThinkingLevel

--- The document in front of the person. `visible` is what they see of it.
---@class singletree.ActiveEditor
---@field uri string
---@field version? integer
---@field languageId? string
---@field visible? singletree.Range

--- What is selected in the active editor.
---@class singletree.SelectedRange
---@field range singletree.Range
---@field text? string

--- What the editor shows at this moment; `diagnostics` are LSP ones of the active document.
---@class singletree.EditorContext
---@field activeEditor? singletree.ActiveEditor
---@field selection? singletree.SelectedRange
---@field diagnostics? table<string, any>[]

--- A text for the agent.
---
--- The same `clientMessageId` again gets the first answer again: a repeat is harmless.
---@class singletree.SayParams : singletree.SessionParams
---@field content singletree.Content
---@field clientMessageId? string

--- A new turn. `whenBusy` says what a text becomes while another turn runs.
---@class singletree.PromptParams : singletree.SayParams
---@field whenBusy? "error"|"steer"|"followUp"
---@field overrides? singletree.Overrides
---@field context? singletree.EditorContext

--- `started`: a turn runs. `queued`: it waits.
---
--- `handled`: a command or an extension did all there was to do; `note` is what it says of it.
--- `messageId` is the id of the user's entry.
---@class singletree.PromptResult
---@field disposition "started"|"queued"|"handled"
---@field turnId? string
---@field queueId? string
---@field messageId? string
---@field note? string

--- A text into the running turn, seen by the model at its next step.
---@class singletree.SteerParams : singletree.SayParams
---@field expectedTurnId? string
---@field whenIdle? "prompt"|"queue"|"error"

--- `injected`: the running turn takes it. `queued`: it waits. `started`: a turn was begun.
---
--- `handled`: as for a prompt.
---@class singletree.SteerResult
---@field disposition "injected"|"queued"|"started"|"handled"
---@field turnId? string
---@field queueId? string
---@field messageId? string
---@field note? string

--- `queued`: sent when the turn has ended, `position` counts from 0. `started`: it was idle.
---
--- `handled`: as for a prompt.
---@class singletree.FollowUpResult
---@field disposition "queued"|"started"|"handled"
---@field queueId? string
---@field position? integer
---@field turnId? string
---@field messageId? string
---@field note? string

--- What to end, and what becomes of the texts that wait.
---
--- Scope `tool`: the call `toolCallId`, or all that run; the turn goes on. `bash`: the commands
--- run by hand. Queue `keep`: the texts stay and are not sent by themselves. `return`: they come
--- back in the answer. `drop`: they are gone.
---@class singletree.AbortParams : singletree.SessionParams
---@field scope? singletree.AbortScope
---@field turnId? string
---@field toolCallId? string
---@field queue? "keep"|"return"|"drop"

--- Answered when it has ended. `aborted` false: nothing ran. `forced`: it did not end in time.
---
--- `queue`: the texts that came back.
---@class singletree.AbortResult
---@field aborted boolean
---@field forced boolean
---@field queue? singletree.QueueItem[]

--- A command of the person, not of the model. `cwd` is meant from the workspace on.
---@class singletree.BashParams : singletree.SessionParams
---@field command string
---@field cwd? string
---@field excludeFromContext? boolean

--- How it ended; the output is bounded, `fullOutputUri` holds all of it.
---
--- Its output streams as deltas of `entryId`. While a turn runs the entry itself waits for its end.
---@class singletree.BashResult
---@field entryId string
---@field output string
---@field exitCode integer|vim.NIL
---@field truncated boolean
---@field cancelled boolean
---@field fullOutputUri? string

---@alias singletree.QueueKind "steer"|"followUp"

---@alias singletree.QueueMode "all"|"one-at-a-time"

--- A text that waits. `paused`: handed back after a crash, not sent by itself.
---@class singletree.QueueItem
---@field queueId string
---@field kind singletree.QueueKind
---@field content singletree.ContentBlock[]
---@field clientMessageId? string
---@field paused boolean

--- The whole queue in the order of sending; `version` grows with each change.
---@class singletree.Queue
---@field items singletree.QueueItem[]
---@field version integer

--- The queue as it is now.
---@class singletree.QueueResult
---@field items singletree.QueueItem[]
---@field version integer

--- The queue as it is now, and what was taken out of it: give the texts back to the person.
---@class singletree.QueueTaken : singletree.QueueResult
---@field removed singletree.QueueItem[]

--- Change a waiting text. `paused: false` lets a paused one go.
---@class singletree.QueueUpdateParams : singletree.SessionParams
---@field queueId string
---@field version? integer
---@field content? singletree.Content
---@field kind? singletree.QueueKind
---@field paused? boolean

--- Take texts out.
---@class singletree.QueueRemoveParams : singletree.SessionParams
---@field queueIds string[]
---@field version? integer

--- All ids in their new order; fewer are refused as stale.
---@class singletree.QueueReorderParams : singletree.SessionParams
---@field queueIds string[]
---@field version? integer

--- Take all out, or all of one kind.
---@class singletree.QueueClearParams : singletree.SessionParams
---@field kind? singletree.QueueKind
---@field version? integer

--- How many texts are handed over at once.
---@class singletree.QueueModeParams : singletree.SessionParams
---@field kind singletree.QueueKind
---@field mode singletree.QueueMode

--- Both modes as they are now.
---@class singletree.QueueModeResult
---@field steer singletree.QueueMode
---@field followUp singletree.QueueMode

---@alias singletree.TreeFilter "default"|"noTools"|"userOnly"|"labeled"|"all"

--- `search` looks in texts and labels. `around`: the page that holds this entry.
---
--- `cursor` is the `next` of the page before, or the `prev` of the page behind.
---@class singletree.TreeParams : singletree.SessionParams
---@field filter? singletree.TreeFilter
---@field search? string
---@field around? string
---@field limit? integer
---@field cursor? string

--- A line of the drawn tree. `depth` grows where the tree forks, not with every entry.
---
--- `parentId` is the parent among the rows shown. `onPath`: the model sees this branch. `preview`
--- is one line. `childCount` counts the children shown.
---@class singletree.TreeRow
---@field entryId string
---@field type string
---@field role string|vim.NIL
---@field timestamp string
---@field depth integer
---@field parentId string|vim.NIL
---@field onPath boolean
---@field isLeaf boolean
---@field label string|vim.NIL
---@field preview string
---@field childCount integer

--- A page of rows. `next` is null on the last one, `prev` on the first.
---@class singletree.Tree
---@field rows singletree.TreeRow[]
---@field leafId string|vim.NIL
---@field treeVersion integer
---@field next string|vim.NIL
---@field prev? string

--- How to sum up the branch that is left. `replace`: the instructions stand for ours.
---@class singletree.Summarize
---@field instructions? string
---@field replace? boolean

--- Where to go, by entry id; `expectedLeafId` is where the caller believes to be.
---
--- `summarize` true or an object writes a summary of the branch that is left.
---@class singletree.NavigateParams : singletree.LongParams
---@field entryId string
---@field summarize? boolean|singletree.Summarize
---@field label? string
---@field expectedLeafId? string

--- Where the leaf is now. A user's message comes back as `editorText`, to be said otherwise.
---@class singletree.Navigated
---@field leafId string|vim.NIL
---@field editorText? string
---@field summaryEntryId? string
---@field cancelled boolean

--- A bookmark on an entry, one short line; null takes it away.
---@class singletree.LabelParams : singletree.SessionParams
---@field entryId string
---@field label string|vim.NIL

--- The bookmark, and the entry that records it.
---@class singletree.Labeled
---@field entryId string
---@field label string|vim.NIL
---@field labelEntryId string

--- Two entries: where one was, and where one would be.
---@class singletree.DiffParams : singletree.SessionParams
---@field ["from"] string
---@field to string

--- One side of a fork: how many entries, the first thousands of them, and the files touched.
---
--- Files stand as the model named them; one that was changed is not among those read.
---@class singletree.BranchSide
---@field count integer
---@field entryIds string[]
---@field readFiles string[]
---@field modifiedFiles string[]

--- What two places do not have in common; `ancestorId` is the last entry of both paths.
---@class singletree.TreeDiff
---@field ancestorId string|vim.NIL
---@field abandoned singletree.BranchSide
---@field gained singletree.BranchSide

--- `instructions`: what the summary should look at.
---@class singletree.CompactParams : singletree.LongParams
---@field instructions? string

--- The files the summed-up part read and changed.
---@class singletree.FileLists
---@field readFiles string[]
---@field modifiedFiles string[]

--- The new entry. Everything before `firstKeptEntryId` is seen by the model as the summary.
---@class singletree.Compacted
---@field entryId string
---@field summary string
---@field firstKeptEntryId string
---@field tokensBefore integer
---@field tokensAfterEstimate integer
---@field usage singletree.Usage
---@field details singletree.FileLists

---@alias singletree.ContextInclude "messages"|"texts"

--- At which entry: the leaf, unless said. `cursor` is the `next` of the page before.
---
--- `include`: `messages` puts into each part the message as the model gets it, `texts` the sections
--- of the system prompt and the declarations of the tools.
---@class singletree.ContextParams : singletree.SessionParams
---@field entryId? string
---@field include? singletree.ContextInclude[]
---@field limit? integer
---@field cursor? string

--- A part of what the model sees, or of what it does not see, with the rule that left it out.
---
--- `kind`: a role, `section:` or `tool:` with a name, `correction` (what a provider measured minus
--- what was estimated), `branches` (all other branches together), or the type of an entry that
--- never speaks to a model. `tokens` are estimated; of what is left out, what it would have cost.
---@class singletree.ContextPart
---@field kind string
---@field tokens integer
---@field entryId? string
---@field preview string
---@field leftOut? string
---@field message? table<string, any>
---@field text? string

--- How many parts a rule leaves out.
---@class singletree.LeftOut
---@field rule string
---@field count integer

--- Tokens: the model's window, what is held free in it, and above what it is compacted.
---
--- `automatic` false: nothing is compacted by itself.
---@class singletree.ContextBudget
---@field window integer
---@field reserve integer
---@field compactsAbove integer
---@field automatic boolean

--- A page of parts: first all that is seen, in order, then what is left out.
---
--- `tokens` is the figure that is compared with the budget: the sum of all parts that are seen.
--- `measured`: as many of them a provider has counted; null where everything is estimated.
---@class singletree.ContextResult
---@field entryId string|vim.NIL
---@field treeVersion integer
---@field model string|vim.NIL
---@field thinking singletree.ThinkingLevel
---@field tokens integer
---@field measured integer|vim.NIL
---@field budget singletree.ContextBudget|vim.NIL
---@field seen integer
---@field leftOut singletree.LeftOut[]
---@field parts singletree.ContextPart[]
---@field next string|vim.NIL

--- A slice in bytes of UTF-8, from `start` up to, not including, `end`.
---@class singletree.ByteRange
---@field start? integer
---@field ["end"]? integer

--- An `agent://` address as it was given in an event or a result.
---@class singletree.ContentReadParams
---@field uri string
---@field range? singletree.ByteRange

--- A piece of the text, whole characters only. `size` is that of the whole, in bytes.
---
--- `next` is the `start` of the following piece, null at the end.
---@class singletree.ContentReadResult
---@field text string
---@field size integer
---@field next integer|vim.NIL

--- US dollars per million tokens.
---@class singletree.ModelPrice
---@field input number
---@field output number
---@field cacheRead number
---@field cacheWrite number

--- A model. `model` is its name everywhere: `provider/id`. Window and limit in tokens.
---
--- `auth`: a key is configured, is missing, or none is needed. Only `missing` cannot be used.
---@class singletree.ModelRow
---@field model string
---@field provider string
---@field id string
---@field name string
---@field contextWindow integer
---@field maxOutput integer
---@field reasoning boolean
---@field images boolean
---@field levels singletree.ThinkingLevel[]
---@field cost singletree.ModelPrice
---@field auth "configured"|"missing"|"notNeeded"

--- `usable` leaves out the models that lack a key.
---@class singletree.ModelListParams : singletree.SessionParams
---@field usable? boolean

--- All models; `current` is the session's, null where there is no session or no model.
---@class singletree.ModelList
---@field models singletree.ModelRow[]
---@field current string|vim.NIL

--- `model` is `provider/id`.
---@class singletree.ModelSetParams : singletree.SessionParams
---@field model string

--- To the next, or to the one before.
---@class singletree.CycleParams : singletree.SessionParams
---@field direction? "next"|"previous"

--- What is chosen now; another model may have other thinking levels.
---@class singletree.ModelResult
---@field model string
---@field thinking singletree.ThinkingLevel

--- The levels of the session's model.
---@class singletree.ThinkingList
---@field levels singletree.ThinkingLevel[]
---@field current singletree.ThinkingLevel

--- A level the model does not have becomes the nearest one it has.
---@class singletree.ThinkingSetParams : singletree.SessionParams
---@field level singletree.ThinkingLevel

--- The level as it is now. `note`: why it is another than the one that was wished for.
---@class singletree.ThinkingResult
---@field thinking singletree.ThinkingLevel
---@field note? string

--- One value that can be chosen.
---@class singletree.ConfigValue
---@field value string
---@field name string
---@field description? string

--- A switch. `list`: any number of the options (the active tools, for example).
---
--- Categories: `mode`, `model`, `model_config`, `thought_level`, and ours that begin with `_`.
---@class singletree.ConfigOption
---@field id string
---@field name string
---@field description? string
---@field category? string
---@field type "select"|"boolean"|"list"
---@field currentValue string|boolean|string[]
---@field options singletree.ConfigValue[]

--- All switches as they are now.
---@class singletree.ConfigResult
---@field configOptions singletree.ConfigOption[]

--- Which, and to what. Scopes `workspace` and `user` also write it to the settings file.
---@class singletree.ConfigSetParams : singletree.SessionParams
---@field id string
---@field value string|boolean|string[]
---@field scope? "session"|"workspace"|"user"

--- A text `/name …` that does something. `inputHint`: what may follow.
---@class singletree.SlashCommand
---@field name string
---@field description string
---@field source "builtin"|"extension"|"prompt"|"skill"
---@field inputHint? string
---@field path? string

--- All commands of the session.
---@class singletree.CommandList
---@field commands singletree.SlashCommand[]

--- The text so far, without the slash, up to the cursor.
---@class singletree.CompleteParams : singletree.SessionParams
---@field prefix string

--- One way to go on: `value` replaces the prefix. `inputHint`: what may follow it.
---@class singletree.Completion
---@field value string
---@field description? string
---@field inputHint? string

--- What may follow, best first.
---@class singletree.Completions
---@field items singletree.Completion[]

--- `key` is a path with dots, such as `compaction.reserveTokens`.
---@class singletree.SettingsGetParams : singletree.SessionParams
---@field key string

--- null takes the key away.
---@class singletree.SettingsSetParams : singletree.SessionParams
---@field key string
---@field value any
---@field scope? "user"|"workspace"

--- For the session's folder and those below it. null forgets what was decided.
---@class singletree.TrustParams : singletree.SessionParams
---@field trusted boolean|vim.NIL

--- Whether what the folder brings along counts now, and what does not.
---@class singletree.TrustResult
---@field trusted boolean
---@field skipped singletree.Skipped[]

--- The value in force, where it comes from, and its JSON Schema.
---@class singletree.SettingsResult
---@field key string
---@field value any
---@field source "default"|"user"|"workspace"|"editor"
---@field jsonSchema? table<string, any>

---@alias singletree.PermissionScope "once"|"session"|"workspace"|"user"

--- One possible answer. `pattern` is what it would cover from then on; `expires` is ISO 8601.
---@class singletree.PermissionOption
---@field id string
---@field label string
---@field kind "allow"|"deny"
---@field scope singletree.PermissionScope
---@field pattern? string
---@field expires? string

--- What is to be done. `diff` is unified text of an edit.
---@class singletree.PermissionSubject
---@field type "command"|"edit"|"read"|"custom"
---@field command? string
---@field cwd? string
---@field paths string[]
---@field diff? string

--- The question. `reason`: why it is asked (which rule). `defaultToNo`: preselect a no.
---
--- `editableInput`: the arguments, if they may be changed in the answer.
---@class singletree.PermissionParams
---@field sessionId string
---@field requestId string
---@field toolCallId? string
---@field title string
---@field subject singletree.PermissionSubject
---@field reason string
---@field options singletree.PermissionOption[]
---@field defaultToNo boolean
---@field editableInput? table<string, any>

--- `selected` with an option's id, or `cancelled`, which is a no.
---
--- `editedInput`: arguments to run instead; rules that forbid and keys hold for them too, and the
--- model is told what ran. `feedback` is told to the model.
---@class singletree.PermissionAnswer
---@field outcome "selected"|"cancelled"
---@field optionId? string
---@field editedInput? table<string, any>
---@field feedback? string

--- A question has its answer from elsewhere: take it off the screen.
---
--- `by`: a client's id, or `abort`, `timeout`, `policy`.
---@class singletree.ResolvedParams
---@field sessionId string
---@field requestId string
---@field by string

--- A remembered answer.
---@class singletree.Rule
---@field id string
---@field tool string
---@field pattern string|vim.NIL
---@field decision "allow"|"deny"
---@field scope singletree.PermissionScope
---@field created? string
---@field uses integer

--- All rules in force, and the mode.
---@class singletree.RuleList
---@field rules singletree.Rule[]
---@field mode string

--- Rules to forget, by id: all of them, or none if one is unknown.
---@class singletree.RuleRemoveParams : singletree.SessionParams
---@field ids string[]

--- `ask` before writes and commands, allow edits, allow all, or deny all that would be asked.
---@class singletree.ModeParams : singletree.SessionParams
---@field mode "ask"|"acceptEdits"|"readOnly"|"allowAll"

---@alias singletree.SignKind "status"|"widget"|"title"|"editorText"|"notice"

---@alias singletree.DialogKind "select"|"confirm"|"input"|"editor"|"form"

--- One thing to choose.
---@class singletree.UiOption
---@field value string
---@field label string
---@field description? string

--- A dialog. `options` go with `select`; `schema` (a subset of JSON Schema) with `form`.
---@class singletree.UiRequestParams
---@field sessionId string
---@field requestId string
---@field kind singletree.DialogKind
---@field title string
---@field message? string
---@field options? singletree.UiOption[]
---@field jsonSchema? table<string, any>
---@field prefill? string
---@field timeoutMs? integer

--- `value`: a text, true or false, or the form's object; or it was dismissed.
---@class singletree.UiAnswer
---@field value? any
---@field cancelled? boolean

--- A sign under a `key`; a null payload takes it away.
---
--- `payload` is a text, for a `widget` a list of lines. Clients that declared `ui.status` get
--- `status` and `title`, with `ui.widgets` `widget`, with `ui.notify` `notice` and `editorText` (a
--- text for the input).
---@class singletree.UiUpdateParams
---@field sessionId string
---@field kind singletree.SignKind
---@field key string
---@field payload any

--- A document, or a part of it.
---@class singletree.EditorReadParams
---@field uri string
---@field range? singletree.Range

--- The text as the person sees it. `dirty`: not as on the disk.
---@class singletree.EditorReadResult
---@field text string
---@field version? integer
---@field dirty? boolean

--- Documents to write to the disk, without a dialog.
---@class singletree.EditorSaveParams
---@field uris string[]

--- A document that could not be saved, and why.
---@class singletree.SaveFailure
---@field uri string
---@field message string

--- What was saved and what was not.
---@class singletree.EditorSaveResult
---@field saved string[]
---@field failed? singletree.SaveFailure[]

--- One change of one file. Hashes are SHA-256 in hex; null where there was or is no file.
---
--- `by`: through the editor that had it open, or on the disk. `created`: there was no file before.
--- `undone`: it was taken back.
---@class singletree.Edit
---@field editId string
---@field turnId string
---@field toolCallId string
---@field uri string
---@field before string|vim.NIL
---@field after string|vim.NIL
---@field by "editor"|"disk"
---@field created boolean
---@field undone boolean
---@field timestamp string

--- Edits of a turn, of a file, or of the whole session.
---@class singletree.EditsParams : singletree.SessionParams
---@field turnId? string
---@field uri? string

--- Oldest first.
---@class singletree.EditList
---@field edits singletree.Edit[]

--- What to take back: all of a turn, all of a file, single edits; with several, what fits all.
---
--- One of them must be given.
---@class singletree.RevertParams : singletree.SessionParams
---@field turnId? string
---@field uri? string
---@field editIds? string[]

--- An edit that stays, and why: usually the file has changed since.
---@class singletree.Refused
---@field editId string
---@field code string
---@field message string

--- What was taken back and what was not.
---@class singletree.Reverted
---@field reverted string[]
---@field refused singletree.Refused[]

--- One provider, or all.
---@class singletree.AuthParams
---@field provider? string

--- How a provider is reached. `source` says where its key comes from; the key is never told.
---
--- `variables`: environment variables that would be used.
---@class singletree.AuthRow
---@field provider string
---@field status "configured"|"missing"|"notNeeded"
---@field source? string
---@field methods string[]
---@field variables string[]

--- All providers that were asked for.
---@class singletree.AuthStatus
---@field providers singletree.AuthRow[]

--- Which provider, and its key, which is kept in `auth.json` for the user alone.
---@class singletree.LoginParams
---@field provider string
---@field method? "api_key"
---@field key string

--- Which provider.
---@class singletree.LogoutParams
---@field provider string

--- US dollars.
---@class singletree.Cost
---@field input number
---@field output number
---@field cacheRead number
---@field cacheWrite number
---@field total number
---@field totalFromProvider? number

--- Tokens as the provider counted them. `input` excludes cached ones.
---@class singletree.Usage
---@field input integer
---@field output integer
---@field cacheRead integer
---@field cacheWrite integer
---@field cacheWrite1h? integer
---@field reasoning? integer
---@field totalTokens integer
---@field cost singletree.Cost

--- How full the window is. `tokens` null: nobody knows, as right after a compaction.
---@class singletree.ContextUsage
---@field tokens integer|vim.NIL
---@field window integer
---@field percent number|vim.NIL

--- What one model took; `model` is `provider/id`, or `summaries` for all summaries together.
---@class singletree.ModelUsage
---@field model string
---@field answers integer
---@field usage singletree.Usage

--- Totals over all branches of the session, failed answers and summaries included.
---@class singletree.UsageResult
---@field contextUsage singletree.ContextUsage
---@field total singletree.Usage
---@field models singletree.ModelUsage[]

---@alias singletree.ToolStatus "streaming"|"pending"|"running"|"completed"|"failed"|"cancelled"|"rejected"

---@alias singletree.ToolKind "read"|"edit"|"execute"|"search"|"other"

---@alias singletree.SessionEvent singletree.StateEvent|singletree.TurnStartedEvent|singletree.TurnEndedEvent|singletree.SettledEvent|singletree.EntryEvent|singletree.LeafEvent|singletree.ItemStartedEvent|singletree.ItemEndedEvent|singletree.ToolEvent|singletree.QueueEvent|singletree.CompactionEvent|singletree.RetryEvent|singletree.UsageEvent|singletree.ConfigEvent|singletree.CommandsEvent|singletree.PermissionEvent|singletree.EditsEvent|singletree.WarningEvent|singletree.ExtensionErrorEvent

--- What the session does now.
---@class singletree.StateEvent
---@field type "state"
---@field phase singletree.Phase
---@field turnId string|vim.NIL

--- A turn has begun. `steer` only when a steering text began it.
---@class singletree.TurnStartedEvent
---@field type "turn_started"
---@field turnId string
---@field cause "prompt"|"followUp"|"steer"|"extension"

--- Exactly one for each `turn_started`. `usage` sums the turn's answers.
---@class singletree.TurnEndedEvent
---@field type "turn_ended"
---@field turnId string
---@field reason singletree.TurnReason
---@field error? singletree.ErrorInfo
---@field usage singletree.Usage

--- Nothing automatic remains: no retry, no compaction, no follow-up.
---@class singletree.SettledEvent
---@field type "settled"

--- An entry was added to the tree, as its record in the file.
---
--- `cut`: long texts are shortened here to fit a message; the whole is at this address.
---@class singletree.EntryEvent
---@field type "entry"
---@field entry singletree.Entry
---@field cut? string

--- The next entry will be a child of `leafId`; null: it will be a new root.
---@class singletree.LeafEvent
---@field type "leaf"
---@field leafId string|vim.NIL
---@field treeVersion integer
---@field cause "append"|"navigate"|"label"|"compact"

--- Part `part` of the answer `itemId` begins to stream; `itemId` is the id of its entry to be.
---
--- A part of kind `tool` is a call whose arguments stream.
---@class singletree.ItemStartedEvent
---@field type "item_started"
---@field itemId string
---@field kind singletree.PartKind
---@field part integer
---@field toolCallId? string
---@field name? string

--- The part is whole; `content` is what counts, whatever the deltas said.
---
--- Null: the part was thrown away. `cut`: shortened to fit a message; the whole is at this address.
---@class singletree.ItemEndedEvent
---@field type "item_ended"
---@field itemId string
---@field kind singletree.PartKind
---@field part integer
---@field content singletree.Block|vim.NIL
---@field cut? string

--- A file a tool works on; `line` counts from 0.
---@class singletree.FileLocation
---@field uri string
---@field line? integer

--- The output was longer than what the model was given. `shown` lines of `lines`.
---@class singletree.ToolTruncation
---@field lines? integer
---@field bytes? integer
---@field shown? integer
---@field fullOutputUri? string

--- What the tool answered. `details` is for people and programs, the model never sees it.
---@class singletree.ToolResult
---@field content singletree.Block[]
---@field details? any
---@field isError boolean

--- How a tool call stands: an update of what was told of `toolCallId` before.
---
--- Absent: unchanged. null: cleared. A value: replaces. `requestId`: it waits for this question.
--- `cut`: shortened to fit a message; the whole is at this address.
---@class singletree.ToolEvent
---@field type "tool"
---@field toolCallId string
---@field status singletree.ToolStatus
---@field itemId? string|vim.NIL
---@field part? integer|vim.NIL
---@field name? string|vim.NIL
---@field kind? singletree.ToolKind|vim.NIL
---@field title? string|vim.NIL
---@field input? table<string, any>|vim.NIL
---@field locations? singletree.FileLocation[]|vim.NIL
---@field diff? string|vim.NIL
---@field result? singletree.ToolResult|vim.NIL
---@field truncation? singletree.ToolTruncation|vim.NIL
---@field durationMs? integer|vim.NIL
---@field requestId? string|vim.NIL
---@field cut? string|vim.NIL

--- The whole queue as it is now.
---@class singletree.QueueEvent
---@field type "queue"
---@field items singletree.QueueItem[]
---@field version integer

--- A summary is being made, or has come to an end.
---@class singletree.CompactionEvent
---@field type "compaction"
---@field id string
---@field status "started"|"completed"|"failed"|"cancelled"
---@field reason "manual"|"threshold"|"overflow"
---@field result? singletree.Compacted
---@field error? singletree.ErrorInfo

--- A failed attempt is made again after `delayMs`, or that has come to an end.
---@class singletree.RetryEvent
---@field type "retry"
---@field attempt integer
---@field max integer
---@field delayMs integer
---@field status "waiting"|"retrying"|"succeeded"|"failed"|"cancelled"
---@field error? singletree.ErrorInfo

--- How full the window is, and what the last answer took.
---@class singletree.UsageEvent
---@field type "usage"
---@field contextUsage singletree.ContextUsage
---@field last? singletree.Usage

--- Model, thinking level, name, tools, permission mode and trust as they are now.
---
--- `images`: the model is shown pictures, not notes in their place.
---@class singletree.ConfigEvent
---@field type "config"
---@field model string|vim.NIL
---@field images boolean
---@field thinking singletree.ThinkingLevel
---@field name string|vim.NIL
---@field tools string[]
---@field mode string
---@field trusted boolean
---@field skipped singletree.Skipped[]

--- The slash commands are others now.
---@class singletree.CommandsEvent
---@field type "commands"

--- A question was asked or is answered; `by` a client's id, `abort`, `timeout`, `policy`.
---
--- A dialog is `answered` or `cancelled`, a question of permission `allowed` or `denied`.
---@class singletree.PermissionEvent
---@field type "permission"
---@field requestId string
---@field status "open"|"allowed"|"denied"|"answered"|"cancelled"
---@field by? string

--- The ledger of edits has changed.
---@class singletree.EditsEvent
---@field type "edits"
---@field turnId string
---@field editIds string[]

--- Something a person should know; `code` is stable.
---@class singletree.WarningEvent
---@field type "warning"
---@field code string
---@field message string

--- An extension failed and the run went on.
---@class singletree.ExtensionErrorEvent
---@field type "extension_error"
---@field extension string
---@field event string
---@field message string

--- More text of part `part` of `itemId`; for `toolOutput` the item is the tool call.
---
--- `from..to` count the chunks of that part, half-open, from 0: where `from` is not the last `to`,
--- something was left out, and `item_ended` will tell it. `after` is the last event before it.
---@class singletree.DeltaParams
---@field sessionId string
---@field after integer
---@field itemId string
---@field kind singletree.DeltaKind
---@field part integer
---@field ["from"] integer
---@field to integer
---@field text string

--- `reason`: what happened to the list of sessions.
---@class singletree.SessionsChangedParams
---@field reason "created"|"renamed"|"deleted"|"opened"|"closed"
---@field sessionId? string

--- An empty object: this is supported.
---@class singletree.Present

--- How the client wants to hear. `kinds`: only these event types; absent: all.
---
--- Deltas are joined for up to `maxLatencyMs`.
---@class singletree.ClientEvents
---@field delta? boolean
---@field maxLatencyMs? integer
---@field kinds? string[]

--- What the client can put before a person.
---@class singletree.ClientUi
---@field dialogs? singletree.DialogKind[]
---@field status? singletree.Present
---@field widgets? singletree.Present
---@field notify? singletree.Present

--- What the editor can do with documents.
---
--- `applyEdit`: edits of open documents, of all, or of none go through the editor.
---@class singletree.ClientEditor
---@field applyEdit? "open"|"all"|"none"
---@field read? singletree.Present
---@field save? singletree.Present

--- What the client declares. All of it may be missing: then it is a plain LSP host.
---
--- `protocolVersions`: preferred first. `settings`: the editor's own settings for the agent, with
--- the keys of settings.json, above all files.
---@class singletree.ClientAgent
---@field protocolVersions? integer[]
---@field clientId? string
---@field events? singletree.ClientEvents
---@field permissions? singletree.Present
---@field ui? singletree.ClientUi
---@field editor? singletree.ClientEditor
---@field settings? table<string, any>
---@field experimental? boolean

--- What can be done with sessions.
---@class singletree.SessionAbilities
---@field list? singletree.Present
---@field fork? singletree.Present
---@field delete? singletree.Present
---@field export? singletree.Present

--- What can be done with the tree.
---@class singletree.TreeAbilities
---@field navigate? singletree.Present
---@field label? singletree.Present
---@field filters singletree.TreeFilter[]

--- What can be done with waiting texts.
---@class singletree.QueueAbilities
---@field update? singletree.Present
---@field reorder? singletree.Present

--- For how long an answer can be remembered.
---@class singletree.PermissionAbilities
---@field scopes singletree.PermissionScope[]

--- Bytes in, bytes out, bytes of a joined delta, requests open at once, events kept.
---@class singletree.Limits
---@field maxMessageBytes integer
---@field maxOutboundBytes integer
---@field maxDeltaBytes integer
---@field maxOpenRequests integer
---@field ringEvents integer

--- What the daemon answers. `protocolVersion` null: no common one, `supported` lists ours.
---
--- `schemaHash` changes when anything in the published schema does.
---@class singletree.ServerAgent
---@field protocolVersion integer|vim.NIL
---@field supported integer[]
---@field schemaHash string
---@field methods string[]
---@field sessions singletree.SessionAbilities
---@field tree singletree.TreeAbilities
---@field steer? singletree.Present
---@field queue singletree.QueueAbilities
---@field compact? singletree.Present
---@field permissions singletree.PermissionAbilities
---@field contentKinds string[]
---@field limits singletree.Limits
---@field experimental string[]

---@alias singletree.Block singletree.StoredText|singletree.StoredImage|singletree.Thinking|singletree.ToolCall

---@alias singletree.StoredContent string|singletree.Block[]

---@alias singletree.AgentMessage singletree.UserMessage|singletree.AssistantMessage|singletree.ToolResultMessage|singletree.SystemMessage|singletree.BashExecutionMessage|singletree.CustomMessage|singletree.CompactionSummaryMessage|singletree.BranchSummaryMessage

---@alias singletree.Entry singletree.MessageEntry|singletree.ModelChangeEntry|singletree.ThinkingLevelChangeEntry|singletree.UsageEntry|singletree.CompactionEntry|singletree.BranchSummaryEntry|singletree.ContextEditEntry|singletree.CustomEntry|singletree.CustomMessageEntry|singletree.LabelEntry|singletree.SessionInfoEntry

--- A run of text. `context`: an editor added it; the person wrote none of it.
---@class singletree.StoredText
---@field type "text"
---@field text string
---@field textSignature? string
---@field context? boolean

--- A picture; `data` is base64.
---@class singletree.StoredImage
---@field type "image"
---@field data string
---@field mimeType string

--- Reasoning of the model; the signature lets the same provider take it back.
---@class singletree.Thinking
---@field type "thinking"
---@field thinking string
---@field thinkingSignature? string
---@field redacted? boolean

--- A request of the model to run a tool.
---
--- `arguments_error`: why its arguments could not be read (cut short, no JSON); it is then never
--- run and `arguments` hold what could be read.
---@class singletree.ToolCall
---@field type "toolCall"
---@field id string
---@field name string
---@field arguments table<string, any>
---@field argumentsError? string
---@field thoughtSignature? string
---@field namespace? string

--- What a person said.
---@class singletree.UserMessage
---@field role "user"
---@field content singletree.StoredContent
---@field timestamp integer

--- One answer of a model.
---@class singletree.AssistantMessage
---@field role "assistant"
---@field content singletree.Block[]
---@field api string
---@field provider string
---@field model string
---@field responseModel? string
---@field responseId? string
---@field thinkingLevel? string
---@field usage singletree.Usage
---@field stopReason string
---@field errorMessage? string
---@field rawStopReason? string
---@field timestamp integer

--- What a tool answered.
---@class singletree.ToolResultMessage
---@field role "toolResult"
---@field toolCallId string
---@field toolName string
---@field content singletree.StoredContent
---@field details? any
---@field isError boolean
---@field timestamp integer

--- A prompt that pi stored: history for the X-ray, never sent by us.
---@class singletree.SystemMessage
---@field role "system"
---@field content singletree.StoredContent
---@field sections? table<string, string|vim.NIL>
---@field timestamp integer

--- A command the user ran; in the context unless excluded.
---@class singletree.BashExecutionMessage
---@field role "bashExecution"
---@field command string
---@field output string
---@field exitCode? integer
---@field cancelled boolean
---@field truncated boolean
---@field fullOutputPath? string
---@field excludeFromContext? boolean
---@field timestamp integer

--- A message of an extension; the model sees it as the user's.
---@class singletree.CustomMessage
---@field role "custom"
---@field customType string
---@field content singletree.StoredContent
---@field display boolean
---@field details? any
---@field timestamp integer

--- Made from a compaction entry when the context is projected; never stored.
---@class singletree.CompactionSummaryMessage
---@field role "compactionSummary"
---@field summary string
---@field tokensBefore integer
---@field timestamp integer

--- Made from a branch_summary entry when the context is projected; never stored.
---@class singletree.BranchSummaryMessage
---@field role "branchSummary"
---@field summary string
---@field fromId string
---@field timestamp integer

--- What every entry has. One made by hand has no place yet: `History.append` gives it one.
---@class singletree.EntryBase
---@field id string
---@field parentId string|vim.NIL
---@field timestamp string

--- Something said.
---@class singletree.MessageEntry : singletree.EntryBase
---@field type "message"
---@field message singletree.AgentMessage

--- Another model from here on.
---@class singletree.ModelChangeEntry : singletree.EntryBase
---@field type "model_change"
---@field provider string
---@field modelId string

--- Another thinking level from here on.
---@class singletree.ThinkingLevelChangeEntry : singletree.EntryBase
---@field type "thinking_level_change"
---@field thinkingLevel string

--- Tokens spent outside an answer; counts in cost, not in context.
---@class singletree.UsageEntry : singletree.EntryBase
---@field type "usage"
---@field kind string
---@field provider string
---@field model string
---@field usage singletree.Usage
---@field note? string

--- A hand-over: the summary stands for everything before `first_kept_entry_id`.
---
--- Its own id, or one that is not on the path, keeps nothing.
---@class singletree.CompactionEntry : singletree.EntryBase
---@field type "compaction"
---@field summary string
---@field firstKeptEntryId string
---@field tokensBefore integer
---@field details? any
---@field usage? singletree.Usage
---@field fromHook? boolean

--- What was tried on a branch that was left; `from_id` is its old leaf, or "root".
---@class singletree.BranchSummaryEntry : singletree.EntryBase
---@field type "branch_summary"
---@field summary string
---@field fromId string
---@field details? any
---@field usage? singletree.Usage
---@field fromHook? boolean

--- Alters what another entry gives to the context: `replacement` null hides it.
---@class singletree.ContextEditEntry : singletree.EntryBase
---@field type "context_edit"
---@field targetId string
---@field replacement? any

--- State of an extension, or of ours; never sent.
---@class singletree.CustomEntry : singletree.EntryBase
---@field type "custom"
---@field customType string
---@field data? any

--- A message of an extension; sent as the user's.
---@class singletree.CustomMessageEntry : singletree.EntryBase
---@field type "custom_message"
---@field customType string
---@field content singletree.StoredContent
---@field display boolean
---@field details? any

--- A bookmark on another entry; missing or empty clears it.
---@class singletree.LabelEntry : singletree.EntryBase
---@field type "label"
---@field targetId string
---@field label? string

--- The session's name.
---@class singletree.SessionInfoEntry : singletree.EntryBase
---@field type "session_info"
---@field name? string

local M = {}

--- The version of the protocol these types describe.
M.VERSION = 1

--- The numbers of error answers; `data.code` says what happened.
---@enum singletree.ErrorNumber
M.ErrorNumber = {
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  InternalError = -32603,
  ServerNotInitialized = -32002,
  RequestCancelled = -32800,
  ContentModified = -32801,
  ServerCancelled = -32802,
  RequestFailed = -32803,
}

--- What may be asked of the daemon.
---@type table<string, boolean>
M.methods = {
  ["agent/session/open"] = true,
  ["agent/session/attach"] = true,
  ["agent/session/detach"] = true,
  ["agent/session/state"] = true,
  ["agent/session/entries"] = true,
  ["agent/session/list"] = true,
  ["agent/session/new"] = true,
  ["agent/session/switch"] = true,
  ["agent/session/rename"] = true,
  ["agent/session/close"] = true,
  ["agent/session/delete"] = true,
  ["agent/session/export"] = true,
  ["agent/session/fork"] = true,
  ["agent/session/wait"] = true,
  ["agent/prompt"] = true,
  ["agent/steer"] = true,
  ["agent/followUp"] = true,
  ["agent/abort"] = true,
  ["agent/bash"] = true,
  ["agent/queue/list"] = true,
  ["agent/queue/update"] = true,
  ["agent/queue/remove"] = true,
  ["agent/queue/reorder"] = true,
  ["agent/queue/clear"] = true,
  ["agent/queue/mode"] = true,
  ["agent/tree/get"] = true,
  ["agent/tree/navigate"] = true,
  ["agent/tree/label"] = true,
  ["agent/tree/diff"] = true,
  ["agent/compact"] = true,
  ["agent/context/get"] = true,
  ["agent/content/read"] = true,
  ["agent/model/list"] = true,
  ["agent/model/set"] = true,
  ["agent/model/cycle"] = true,
  ["agent/thinking/list"] = true,
  ["agent/thinking/set"] = true,
  ["agent/thinking/cycle"] = true,
  ["agent/config/list"] = true,
  ["agent/config/set"] = true,
  ["agent/command/list"] = true,
  ["agent/command/complete"] = true,
  ["agent/settings/get"] = true,
  ["agent/settings/set"] = true,
  ["agent/trust/set"] = true,
  ["agent/permission/list"] = true,
  ["agent/permission/remove"] = true,
  ["agent/permission/setMode"] = true,
  ["agent/edits/list"] = true,
  ["agent/edits/revert"] = true,
  ["agent/auth/status"] = true,
  ["agent/auth/login"] = true,
  ["agent/auth/logout"] = true,
  ["agent/usage/get"] = true,
}

return M
