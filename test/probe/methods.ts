/** Calls every method of the reference on the sandbox, each as its row says, and tells what came back. */
import { reference } from '../../src/bot-api/reference.ts'
import { administrationRows } from '../service/administration-rows.ts'
import { businessRows } from '../service/business-rows.ts'
import { ephemeralRows } from '../service/ephemeral-rows.ts'
import { type MethodRow, methodRows } from '../service/method-rows.ts'
import { botMethodRows } from '../service/method-rows-bots.ts'
import { botTaskRows } from '../service/method-rows-tasks.ts'
import type { MethodStage, Value } from '../service/method-stage.ts'
import { richRows } from '../service/rich-rows.ts'
import { stickerRows } from '../service/sticker-rows.ts'

/** One function for each area; a later one counts where two name the same method. `methodRows` ends the bot's stay. */
const areas: readonly ((stage: MethodStage) => Readonly<Record<string, MethodRow>>)[] = [
  stickerRows,
  botMethodRows,
  botTaskRows,
  administrationRows,
  ephemeralRows,
  richRows,
  businessRows,
  methodRows,
]

export const rowsOf = (stage: MethodStage): Readonly<Record<string, MethodRow>> =>
  Object.assign({}, ...areas.map((rows) => rows(stage)))

export interface Probed {
  readonly method: string
  /** There is a row for it: it is meant to answer. */
  readonly isExpected: boolean
  /** Undefined if it was answered with `ok: true`. */
  readonly refusal: string | undefined
  readonly result: Value
}

/** Methods without a row come first, because some of the others end the bot's stay. Sorted by name. */
export async function probeMethods(stage: MethodStage): Promise<Probed[]> {
  const rows = rowsOf(stage)
  const { chat_id, ada } = stage
  const usual = { chat_id, user_id: ada.id, message_id: 1 }
  const probed: Probed[] = []
  for (const method of [...reference.keys()].filter((name) => !(name in rows))) {
    probed.push(await probe(stage, method, async () => usual, false))
  }
  for (const [method, [, given = {}]] of Object.entries(rows)) {
    const prepare = typeof given === 'function' ? given : async () => given
    probed.push(await probe(stage, method, prepare, true))
  }
  return probed.sort((one, other) => one.method.localeCompare(other.method))
}

async function probe(
  { call }: MethodStage,
  method: string,
  prepare: () => Promise<Readonly<Record<string, unknown>>>,
  isExpected: boolean,
): Promise<Probed> {
  try {
    const { body } = await call(method, await prepare())
    const refusal = body.ok ? undefined : `${body.error_code} ${body.description}`
    return { method, isExpected, refusal, result: body.result }
  } catch (cause) {
    const refusal = `its parameters could not be made: ${(cause as Error).message}`
    return { method, isExpected, refusal, result: undefined }
  }
}
