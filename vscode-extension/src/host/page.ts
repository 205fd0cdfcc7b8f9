/**
 * The page of a webview: one script and the style of dist/, nothing from elsewhere.
 *
 * Read next: sidebar.ts and tree.ts, the two views.
 */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

/** Put the page with this script into a webview. */
export function fill(webview: vscode.Webview, root: vscode.Uri, script: string): void {
  const dist = vscode.Uri.joinPath(root, "dist");
  const uri = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
  const nonce = randomBytes(16).toString("base64");
  const rules = `default-src 'none'; img-src data:; style-src ${webview.cspSource}; font-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  webview.options = { enableScripts: true, localResourceRoots: [dist] };
  webview.html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${rules}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${uri("style.css")}">
<title>Singletree</title>
</head>
<body><script nonce="${nonce}" src="${uri(script)}"></script></body>
</html>`;
}
