;;; drive.el --- What a person does in Emacs, for a test  -*- lexical-binding: t -*-

;; The test names the client (eglot or lsp-mode), a file with its configuration, the program to
;; start, a folder and a scene. What was seen is told on stderr, one JSON object a line.

(package-initialize)
(require 'json)
(require 'cl-lib)
(setq make-backup-files nil create-lockfiles nil inhibit-startup-screen t
      native-comp-async-report-warnings-errors nil
      eglot-sync-connect 30 eglot-autoshutdown t eglot-events-buffer-size 0
      lsp-auto-guess-root t lsp-enable-file-watchers nil lsp-keep-workspace-alive nil)

(defvar drive-folder (getenv "DRIVE_FOLDER"))
(defvar drive-lsp (equal (getenv "DRIVE_CLIENT") "lsp-mode"))
(defvar drive-asked nil "The questions so far, the newest first.")
(defvar drive-answer #'caar "Gets what can be chosen, gives the choice.")

(defun drive-tell (what &rest values)
  (message "TOLD %s" (json-encode (append (list :what what) values))))

(defun drive-until (reached)
  (let ((end (+ (float-time) 30)))
    (while (and (not (funcall reached)) (< (float-time) end))
      (accept-process-output nil 0.02))
    (unless (funcall reached)
      (drive-tell "late" :asked (vconcat drive-asked) :shown (drive-shown))
      (kill-emacs 1))))

(defun drive-shown ()
  (if (get-buffer "*singletree*") (with-current-buffer "*singletree*" (buffer-string)) ""))

(defun drive-window ()
  "Where the answer stands, whether its end is seen, and which file has the cursor."
  (let ((window (get-buffer-window "*singletree*")))
    (list :side (window-parameter window 'window-side)
          :end (if (= (window-point window) (1+ (length (drive-shown)))) t :json-false)
          :cursor (file-name-nondirectory (buffer-file-name (window-buffer))))))

(defun drive-shows (text)
  (lambda () (string-match-p (regexp-quote text) (drive-shown))))

(defun drive-idle ()
  "Do what waits for a moment of rest: a batch Emacs never rests."
  (mapc #'timer-event-handler (copy-sequence timer-idle-list)))

(defun drive-open (name)
  (find-file (expand-file-name name drive-folder))
  (text-mode)
  (buffer-enable-undo)
  (if (not drive-lsp)
      (apply #'eglot (eglot--guess-contact))
    (lsp-workspace-folders-add drive-folder)
    (lsp)
    (drive-until (lambda () (and (lsp-workspaces)
                                 (eq 'initialized
                                     (lsp--workspace-status (car (lsp-workspaces)))))))))

(defun drive-leave ()
  (if drive-lsp (lsp-workspace-shutdown (car (lsp-workspaces)))
    (eglot-shutdown (eglot-current-server))))

(defun drive-choose (words)
  "Choose the first answer with WORDS in it."
  (lambda (choices)
    (cl-find-if (lambda (one) (string-match-p (regexp-quote words) one))
                (mapcar (lambda (one) (if (consp one) (car one) one)) choices))))

(defun drive-read (prompt choices &rest _)
  "Answer in the place of a person."
  (push prompt drive-asked)
  (funcall drive-answer (append choices nil)))

(advice-add 'completing-read :override #'drive-read)

(defun drive-action (words)
  "Run the code action with WORDS in its title on the active region."
  (setq drive-answer (drive-choose words))
  (if drive-lsp
      (let ((actions (lsp-code-actions-at-point)))
        (lsp-execute-code-action
         (or (cl-find-if (lambda (one) (string-match-p words (lsp-get one :title))) actions)
             (error "No such code action: %S" actions))))
    (let ((last-nonmenu-event t)) ; not by the mouse
      (eglot-code-actions (region-beginning) (region-end) nil t))))

;;; Scenes

(defun drive-story ()
  "Say, stream, ask for permission, edit an open dirty buffer, undo; then a code action."
  (drive-open "a.txt")
  (goto-char (point-max))
  (insert "four\n")
  (undo-boundary)
  (setq drive-answer (drive-choose "Allow once"))
  (singletree-prompt "go")
  (drive-idle)
  (drive-until (drive-shows "It begins."))
  (drive-tell "begun" :shown (drive-shown))
  (drive-until (drive-shows "[done]"))
  (drive-tell "edited" :text (buffer-string) :asked (vconcat drive-asked) :shown (drive-shown)
              :where (drive-window))
  (setq last-command nil)
  (undo-boundary)
  (undo)
  (drive-tell "undone" :text (buffer-string))
  (drive-idle)
  (transient-mark-mode 1)
  (goto-char (point-min))
  (push-mark (point) t t)
  (end-of-line)
  (setq mark-active t)
  (drive-action "explain the selection")
  (drive-until (drive-shows "It explains."))
  (singletree-run "agent.transcript")
  (drive-until (lambda () (drive-buffer-of "transcript.md")))
  (drive-tell "transcript" :text (with-current-buffer (drive-buffer-of "transcript.md")
                                   (buffer-string)))
  (drive-leave))

(defun drive-early ()
  "Say something before there is a connection; it stands in the prompt again, and is said then."
  (find-file (expand-file-name "a.txt" drive-folder))
  (text-mode)
  (singletree-prompt "too early")
  (drive-open "a.txt")
  (with-current-buffer "*singletree*"
    (cl-letf (((symbol-function 'read-string)
               (lambda (_prompt initial &rest _) (concat initial ", and more"))))
      (call-interactively #'singletree-prompt)))
  (drive-until (drive-shows "[done]"))
  (drive-tell "said" :shown (drive-shown) :draft singletree--draft)
  (drive-leave))

(defun drive-buffer-of (name)
  (cl-find-if (lambda (one) (and (buffer-file-name one)
                                 (equal name (file-name-nondirectory (buffer-file-name one)))))
              (buffer-list)))

(defun drive-ignored ()
  "A question that nobody answers, until a person stops the turn."
  (setq drive-answer
        (lambda (_choices)
          (run-at-time 0.2 nil (lambda () (singletree-stop) (drive-idle)))
          (drive-taken-back)))
  (drive-open "a.txt")
  (singletree-prompt "write")
  (drive-idle)
  (drive-until (drive-shows "[stopped]"))
  (drive-tell "stopped" :asked (vconcat drive-asked))
  (drive-leave))

(defun drive-taken-back ()
  "Leave a question open until it is taken off the screen, which is no return from here."
  (drive-until #'ignore))

(defun drive-talked-over ()
  "Three questions at once, while the agent talks on: the first is taken back, the others answered."
  (setq drive-answer
        (lambda (choices)
          (if (string-prefix-p "Taken back" (car drive-asked)) (drive-taken-back)
            (drive-until (drive-shows "The end."))
            (funcall (drive-choose "Yes") choices))))
  (drive-open "a.txt")
  (singletree-prompt "talk")
  (drive-idle)
  (drive-until (drive-shows "[done]"))
  (drive-tell "heard" :asked (vconcat (reverse drive-asked)) :shown (drive-shown))
  (drive-leave))

(defun drive-streaming ()
  "A turn that runs until this process is killed."
  (drive-open "a.txt")
  (singletree-prompt "go")
  (drive-idle)
  (drive-until (drive-shows "It begins."))
  (drive-tell "streaming")
  (while t (accept-process-output nil 1)))

(defun drive-by-hand ()
  "Somebody goes on at the keyboard; once a minibuffer is open, something is said."
  (advice-remove 'completing-read #'drive-read)
  (drive-open "a.txt")
  (let ((file (current-buffer)))
    (letrec ((say (lambda ()
                    (remove-hook 'minibuffer-setup-hook say)
                    (run-at-time 0 nil (lambda ()
                                         (with-current-buffer file (singletree-prompt "go")))))))
      (add-hook 'minibuffer-setup-hook say))))

(defun drive-plain ()
  "A client that knows nothing of agents: a command, LSP's own dialog, a message at the end."
  (setq drive-answer (drive-choose "Allow once"))
  (drive-open "a.txt")
  (if drive-lsp
      (lsp-request-async "workspace/executeCommand"
                         (list :command "agent.prompt" :arguments ["write"]) #'ignore
                         :mode 'detached)
    (jsonrpc-async-request (eglot-current-server) :workspace/executeCommand
                           (list :command "agent.prompt" :arguments ["write"])
                           :success-fn #'ignore))
  (drive-until (lambda () (with-current-buffer (messages-buffer)
                            (string-match-p "agent.transcript" (buffer-string)))))
  (drive-tell "told" :asked (vconcat drive-asked))
  (drive-leave))

(defun drive-scene ()
  (require (if drive-lsp 'lsp-mode 'eglot))
  (load (getenv "DRIVE_CONFIGURATION") nil t)
  (setq singletree-command (list (getenv "DRIVE_PROGRAM") "serve" "--stdio"))
  (funcall (intern (getenv "DRIVE_SCENE")))
  (drive-tell "end"))

(drive-scene)
;;; drive.el ends here
