/** Voice messages become Ogg/Opus; music stays as it is, with its tags read. */
import { renamed } from '../formats.ts'
import type { Probe } from '../probe.ts'
import * as recipes from '../recipes.ts'
import { asDocument, type Given, type MediaTools, type Prepared, stillOf } from './kind.ts'

const music = ['audio/mpeg', 'audio/mp4', 'audio/x-m4a']

export async function voice(given: Given, tools: MediaTools): Promise<Prepared> {
  const { path, mime } = given
  const probe = await tools.transcoder.probe(given, tools)
  const isOpus = probe ? probe.audio?.codec === 'opus' : !tools.transcoder.isOpen
  if (mime === 'audio/ogg' && isOpus) {
    return { kind: 'voice', path, mime, ...sounding(given, probe), notes: [] }
  }
  const target = tools.tempFolder.file()
  if (probe?.audio && (await tools.transcoder.make(given, recipes.voice, target, tools))) {
    const notes = ['the recording was made Ogg/Opus']
    return { kind: 'voice', path: target, mime: 'audio/ogg', ...sounding(given, probe), notes }
  }
  const why = tools.transcoder.isOpen
    ? 'it could not be read as a recording'
    : 'ffmpeg is not installed, so it was not made Ogg/Opus'
  if (music.includes(mime) && (probe?.audio || !tools.transcoder.isOpen)) {
    const asAudio = await audio(given, tools)
    return { ...asAudio, notes: [...asAudio.notes, `sent as audio: ${why}`] }
  }
  return await asDocument(given, tools, [`sent as a document: ${why}`])
}

export async function audio(given: Given, tools: MediaTools): Promise<Prepared> {
  const { path, mime, name, hints } = given
  const probe = await tools.transcoder.probe(given, tools)
  const isSound = probe
    ? probe.audio !== undefined
    : !tools.transcoder.isOpen && /^audio\//.test(mime)
  if (!isSound) {
    return await asDocument(given, tools, ['sent as a document: it could not be read as sound'])
  }
  const title = hints.title ?? probe?.title
  const performer = hints.performer ?? probe?.performer
  const thumbnail = probe?.hasCover ? await stillOf(given, tools) : undefined
  return {
    kind: 'audio',
    path,
    mime: mime === 'audio/x-m4a' ? 'audio/mp4' : mime,
    ...(name && { name }),
    ...(title && { title }),
    ...(performer && { performer }),
    ...(thumbnail && { thumbnail }),
    ...sounding(given, probe),
    notes: [],
  }
}

/** As in the reference: for sound the sender's figure counts, for films that of the file. */
const sounding = (given: Given, probe: Probe | undefined) =>
  lasting(given, given.hints.durationSeconds === undefined ? probe : undefined)

export function lasting({ hints }: Given, probe: Probe | undefined): { durationSeconds?: number } {
  const durationSeconds = probe?.durationSeconds ?? hints.durationSeconds
  return durationSeconds === undefined ? {} : { durationSeconds }
}

/** The name with the extension of the new type. */
export const called = (name: string | undefined, extension: string): { name?: string } => {
  const changed = renamed(name, extension)
  return changed === undefined ? {} : { name: changed }
}
