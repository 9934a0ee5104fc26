/** Adopting a version of the reference that differs from the one before. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '../..')
const SHAPES = 'test/reference/shapes.json'
const SCHEMAS = 'src/bot-api/result-schemas.json'
const PACKAGE = 'node_modules/@gramio/types'

const copy = await mkdtemp(join(tmpdir(), 'chapar-test-'))
t.teardown(() => rm(copy, { recursive: true, force: true }))
const code = ['machines', 'actors', 'src', 'test/reference', 'test/docs', 'package.json']
for (const path of code) await cp(join(root, path), join(copy, path), { recursive: true })
await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))

/** Changes made to the declarations; each text has to be there. */
const doctored: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  'params.d.ts': [
    ['Based on Bot API v10.3 (', 'Based on Bot API v11.7 ('],
    [
      'export interface SendDiceParams {',
      'export interface SendScentParams {\n    chat_id: number | string\n    scent: Objects.TelegramInputFile | string\n    strength?: SendScentStrength\n}\nexport type SendScentStrength = 1 | 2\nexport interface SendDiceParams {\n    /**\n     * A face: 1-6\n     */\n    face?: string',
    ],
    ['export interface VerifyUserParams', 'export interface GoneParams'],
  ],
  'methods.d.ts': [
    [
      '    sendDice: CallAPI<',
      '    sendScent: CallAPI<Params.SendScentParams, true>\n    sendDice: CallAPI<',
    ],
    ['    verifyUser: CallAPI<', '    verifyNobody: CallAPI<'],
  ],
  'objects.d.ts': [
    [
      '    edited_message?: TelegramMessage',
      '    edited_message?: TelegramMessage\n    scent?: TelegramMessage',
    ],
  ],
}
const folder = join(copy, 'newer')
await mkdir(join(folder, 'out'), { recursive: true })
for (const [file, changes] of Object.entries(doctored)) {
  let text = await readFile(join(root, PACKAGE, 'out', file), 'utf8')
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
    text = text.replace(from, to)
  }
  await writeFile(join(folder, 'out', file), text)
}

const run = (script: string, from: string) =>
  new Promise<{ lines: string[]; code: number }>((resolve) => {
    const args = [join(copy, 'test/reference', script), from]
    execFile(process.execPath, args, { cwd: copy }, (error, stdout) =>
      resolve({ lines: stdout.trim().split('\n'), code: Number(error?.code ?? 0) }),
    )
  })

t.test('the command lists what is new, and what has to be decided', async (t) => {
  const adopted = await run('adopt.ts', folder)
  t.strictSame(adopted, {
    code: 0,
    lines: [
      'the reference was 10.3 and is 11.7',
      '+ sendDice.face:string',
      '+ sendScent(chat_id:chat! scent:file! strength:number)',
      '+ verifyNobody()',
      '- verifyUser',
      '4 differences',
    ],
  })
  const table = await readFile(join(copy, 'src/bot-api/reference-table.ts'), 'utf8')
  t.match(table, "export const REFERENCE_VERSION = '11.7'")
  t.match(table, "  sendScent: 'chat_id:chat! scent:file! strength:number',")
  const shapes = JSON.parse(await readFile(join(copy, SHAPES), 'utf8'))
  t.match(shapes, { results: { sendScent: 'true' }, objects: { Update: / scent\?:Message / } })
  const { results, schemas } = JSON.parse(await readFile(join(copy, SCHEMAS), 'utf8'))
  t.strictSame(results.sendScent, { type: 'boolean' })
  t.match(schemas.BotUpdate.properties.scent, { $ref: '#/components/schemas/BotMessage' })
  const open = await run('list-unclassified.ts', folder)
  const rules = '(src/bot-api/parameter-rules.ts)'
  t.strictSame(open, {
    code: 1,
    lines: [
      `parameter sendDice.face: not read, not in LACKING or COSMETIC ${rules}`,
      `method sendScent: no subject in SUBJECTS ${rules}`,
      'update scent: not in UPDATE_KINDS (machines/model/update-kinds.ts)',
      '3 unclassified',
    ],
  })
})

t.test('the version of before can be adopted again', async (t) => {
  const before = await readFile(join(root, 'src/bot-api/reference-table.ts'), 'utf8')
  t.match(await run('adopt.ts', join(root, PACKAGE)), { code: 0 })
  t.equal(await readFile(join(copy, 'src/bot-api/reference-table.ts'), 'utf8'), before)
  for (const path of [SHAPES, SCHEMAS])
    t.equal(
      await readFile(join(copy, path), 'utf8'),
      await readFile(join(root, path), 'utf8'),
      path,
    )
  const open = await run('list-unclassified.ts', join(root, PACKAGE))
  t.strictSame(open, { code: 0, lines: ['0 unclassified'] })
})

t.test('what is no such package changes nothing', async (t) => {
  const before = await readFile(join(copy, 'src/bot-api/reference-table.ts'), 'utf8')
  t.not((await run('adopt.ts', join(copy, 'test'))).code, 0)
  t.equal(await readFile(join(copy, 'src/bot-api/reference-table.ts'), 'utf8'), before)
})
