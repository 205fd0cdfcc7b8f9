/**
 * Pictures that are pasted or dropped -> blocks that go along: no larger than a model looks at.
 *
 * Scaled here, since the daemon may not be able to, and a draft is kept at each key. Read next: composer.ts.
 */
import type { ImageBlock } from "../protocol";
import type { Attachment } from "../shared/messages";
import { h } from "./dom";

/** Pixels of the longer side, and bytes of a picture that goes along as it is. */
const SIDE = 2000;
const BYTES = 3_000_000;
const PLAIN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The files of a paste or a drop; none where a text came with them: then that is what is meant. */
export function filesOf(given: DataTransfer | null): File[] {
  return given && !given.types.includes("text/plain") ? [...given.files] : [];
}

/** A file as a picture that goes along. Throws where it is none. */
export async function pictureOf(file: File): Promise<Attachment> {
  const image = new Image();
  image.src = await urlOf(file);
  await image.decode();
  const scale = Math.min(1, SIDE / Math.max(image.naturalWidth, image.naturalHeight));
  const plain = scale === 1 && file.size <= BYTES && PLAIN.has(file.type);
  const url = plain ? image.src : drawn(image, scale, file.size <= BYTES ? "image/png" : "image/jpeg");
  const [, mimeType = "", data = ""] = /^data:([^;]*);base64,(.*)$/.exec(url) ?? [];
  return { label: file.name || "picture", block: { type: "image", data, mimeType } };
}

/** Where an element finds the picture. */
export function sourceOf({ data, mimeType }: Pick<ImageBlock, "data" | "mimeType">): string {
  return `data:${mimeType};base64,${data}`;
}

function drawn(image: HTMLImageElement, scale: number, type: string): string {
  const canvas = h("canvas", { width: Math.max(1, Math.round(image.naturalWidth * scale)), height: Math.max(1, Math.round(image.naturalHeight * scale)) });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL(type, 0.9);
}

function urlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
