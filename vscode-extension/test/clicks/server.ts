/**
 * A code-server of its own, with a home, a folder to work in and a scripted daemon, on a free port.
 *
 * What it needs is named by the environment: CODE_SERVER, NODE, EXTENSIONS (a folder with the vsix
 * unpacked), SINGLETREE, CHROMIUM. Read next: page.ts.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface Server {
  url: string;
  home: string;
  workspace: string;
  /** The address of a window with these folders of the home; called again, the open window has these. */
  folders(...names: string[]): string;
  /** Change the machine's settings while it runs: those of a program belong to it, also in a remote window. */
  set(settings: object): void;
  /** What a process needs to reach the same daemon. */
  env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

export interface Wishes {
  /** Lines of the model's script. */
  script: object[];
  files?: { [name: string]: string };
  settings?: object;
  flags?: string[];
  /** An extension of the daemon, in Python. */
  guest?: string;
  daemon?: string[];
}

/** Start it; ready when it answers. */
export async function serve(wishes: Wishes): Promise<Server> {
  const home = mkdtempSync(join(tmpdir(), "st-"));
  const workspace = join(home, "project");
  const script = join(home, "script.jsonl");
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(name), { recursive: true });
    writeFileSync(name, text);
  };
  write(script, wishes.script.map((line) => JSON.stringify(line)).join("\n"));
  for (const [name, text] of Object.entries(wishes.files ?? {})) write(join(workspace, name), text);
  mkdirSync(workspace, { recursive: true });
  const set = (settings: object): void => {
    write(join(home, "data", "Machine", "settings.json"), JSON.stringify({ ...ofDaemon(script, wishes.daemon), ...settings }));
  };
  set({});
  write(join(home, "data", "User", "settings.json"), JSON.stringify({ ...CALM, ...themed(), ...wishes.settings }));
  if (wishes.guest) write(join(home, "agent", "extensions", "guest.py"), wishes.guest);
  write(join(home, "config.yaml"), "");
  const port = await freePort();
  const env = { ...process.env, HOME: home, PI_CODING_AGENT_DIR: join(home, "agent") };
  const child = start(home, workspace, port, env, wishes.flags ?? []);
  const url = `http://127.0.0.1:${port}/`;
  await answers(`${url}healthz`, child);
  const folders = (...names: string[]): string => {
    const file = join(home, "several.code-workspace");
    write(file, JSON.stringify({ folders: names.map((path) => ({ path })) }));
    return `${url}?workspace=${file}`;
  };
  return { url: `${url}?folder=${workspace}`, home, workspace, folders, set, env, stop: () => stopped(child, home, env) };
}

/** Settings under which nothing moves by itself. */
const CALM = {
  "workbench.startupEditor": "none", "security.workspace.trust.enabled": false, "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off", "update.mode": "none", "extensions.autoUpdate": false, "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true, "workbench.enableExperiments": false, "workbench.tips.enabled": false, "git.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "window.commandCenter": false, "editor.minimap.enabled": false, "files.autoSave": "off",
};

/** Pictures are looked at in more than one theme: THEME names it. */
function themed(): object {
  const theme = process.env["THEME"];
  return theme ? { "workbench.colorTheme": theme } : {};
}

function ofDaemon(script: string, more: string[] = []): object {
  return {
    "singletree.command": need("SINGLETREE"),
    "singletree.arguments": [...(more.length ? more : ["attach"]), "--model", `scripted:${script}`],
  };
}

function start(home: string, workspace: string, port: number, base: NodeJS.ProcessEnv, flags: string[]): ChildProcess {
  const args = [
    "--config", join(home, "config.yaml"), "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--user-data-dir", join(home, "data"),
    "--extensions-dir", need("EXTENSIONS"), "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust",
    "--disable-getting-started-override", ...flags, workspace,
  ];
  const env = { ...base, EXTENSIONS_GALLERY: '{"serviceUrl":""}', PATH: `${dirname(need("NODE"))}:${base["PATH"]}` };
  return spawn(need("CODE_SERVER"), args, { env, stdio: "ignore", detached: true });
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    if (await fetch(url).then((got) => got.ok, () => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  throw new Error(`code-server ended with ${child.exitCode}`);
}

/** The daemon is shared: it does not end with the editor. */
async function stopped(child: ChildProcess, home: string, env: NodeJS.ProcessEnv): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null) {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    process.kill(-child.pid, "SIGTERM");
    await gone;
  }
  spawnSync(need("SINGLETREE"), ["stop"], { env });
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** A variable of the environment without which nothing works. */
export function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; tests/clients/test_vscode.py sets it`);
  return value;
}
