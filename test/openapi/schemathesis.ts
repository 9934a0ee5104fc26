/** Schemathesis asks a running service for all that /openapi.json describes, rightly and wrongly, and judges the answers. */
import { execFile } from 'node:child_process'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pythonWith } from '../libraries/toolchains.ts'
import { linkedAccount } from '../service/scene.ts'
import { type Client, until } from '../support/client.ts'
import { startService } from '../support/service.ts'

/** Operations that are not asked for, by name, with the reason. */
const EXCLUDED: Readonly<Record<string, string>> = {
  'DELETE /user': 'it ends the account that asks',
  'POST /auth/logout': 'it ends the sign-in that asks',
  'DELETE /user/sessions/{id}': 'it may end the sign-in that asks',
  'DELETE /sandbox/network': 'it ends the linked account',
  'DELETE /platforms/credentials/{credential_id}': 'it may end the linked account',
  'DELETE /api_keys/{id}': 'it may end the key that asks',
  'POST /api_keys/{id}/rotate': 'it may end the key that asks',
  'GET /platforms/credentials/events': 'a stream does not end',
  'GET /platforms/credentials/{credential_id}/events': 'a stream does not end',
  'POST /bot{api_key}/logOut': 'it ends the key',
  'POST /bot{api_key}/close': 'it ends the session for ten minutes',
  'GET /file/bot{api_key}/{file_path}': 'it sends files, whose paths nobody guesses',
}

/** One part of the description, and what is held against its answers beyond the checks of all. */
interface Part {
  readonly paths: string
  readonly checks: readonly string[]
}

export const PARTS = {
  management: { paths: '^/(?!bot|file)', checks: ['negative_data_rejection'] },
  // As at the reference, a parameter of another type may be read all the same, and one that is unknown is passed over.
  'bot API': { paths: '^/bot', checks: [] },
} satisfies Readonly<Record<string, Part>>

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
]

interface Judgement {
  readonly passed: boolean
  /** What Schemathesis printed, from the failures on. */
  readonly said: string
  readonly operations: number
  readonly cases: number
  /** How many of the last thousand requests were carried out. */
  readonly carriedOut: number
}

interface Logged {
  readonly request_id: string
  readonly error_code: number | null
}

/** The last requests before one more: the log is written a moment late, in order. */
async function loggedBefore(client: Client, oneMore: string): Promise<readonly Logged[]> {
  const last = (await fetch(oneMore)).headers.get('x-request-id')
  return until(async () => {
    const log = await client.result('GET', '/user/logs/api-requests?limit=1000')
    const items: readonly Logged[] = log.items
    const place = items.findIndex(({ request_id }) => request_id === last)
    return place >= 0 && items.slice(place + 1)
  })
}

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

export interface Budget {
  /** Invented requests for each operation, beside those that cover its schema. */
  readonly examples: number
  /** `coverage` walks the borders of every schema; `fuzzing` invents. */
  readonly phases: readonly ('coverage' | 'fuzzing')[]
}

/** More than walk the borders of the schema of `getUpdates`. */
const COVERING_POLLS = 100

/** Half the time for which an access token lives. */
const RENEWAL = 5 * 60_000

/** Keeps a valid access token in a file. */
async function keepSignedIn(client: Client, file: string) {
  let current = Promise.resolve(client)
  const write = async (next: Client) => {
    // Whoever reads it meanwhile gets the one or the other.
    await writeFile(`${file}.new`, next.token)
    await rename(`${file}.new`, file)
    return next
  }
  await write(client)
  const timer = setInterval(() => {
    current = current.then(async (before) => write(await before.renewed()))
  }, RENEWAL)
  return { file, client: () => current, stop: () => clearInterval(timer) }
}

/** Rejects with `Missing` where Python or its packages are not to be had. */
export async function judgePart(
  t: Testing,
  part: keyof typeof PARTS,
  { examples, phases }: Budget,
): Promise<Judgement> {
  const folder = await pythonWith(import.meta.dirname)
  const env = {
    FFMPEG: '',
    PLATFORM_TIMEOUT_MS: '1000',
    OTP_RESEND_DELAYS: '0',
    API_KEYS_PER_ACCOUNT: '10000',
  }
  const service = await startService(t, { env })
  const { client, key, credentialId } = await linkedAccount(service, 'schemabot')
  const polls = examples + (phases.includes('coverage') ? COVERING_POLLS : 0)
  const pollers: string[] = []
  for (let poll = 0; poll < polls; poll++) pollers.push((await client.key(credentialId)).key)
  const signedIn = await keepSignedIn(client, join(service.dataDir, 'token'))
  const { paths, checks }: Part = PARTS[part]
  const args = [
    // The program `schemathesis` names the path at which the folder was made, which has another name now.
    ['-m', 'schemathesis.cli'],
    ['--config-file', join(import.meta.dirname, 'schemathesis.toml')],
    ['run', `${service.url}/openapi.json`, '--url', service.url],
    ['--include-path-regex', paths],
    ['--checks', [...CHECKS, ...checks].join(',')],
    ['--phases', phases.join(','), '--max-examples', `${examples}`],
    // The same requests in every run, and no files left behind.
    ['--generation-deterministic', '--no-shrink', '--continue-on-failure'],
    // Two threads that read source code at once break the parser of Python 3.11: "AST constructor recursion depth mismatch".
    ['--workers', '1', '--request-timeout', '60', '--warnings', 'off', '--no-color'],
    ...Object.keys(EXCLUDED).map((name) => ['--exclude-name', name]),
  ].flat()
  const options = {
    cwd: service.dataDir,
    env: {
      ...process.env,
      API_KEY: key,
      POLLING_KEYS: pollers.join(),
      TOKEN_FILE: signedIn.file,
      SCHEMATHESIS_HOOKS: 'hooks',
      PYTHONPATH: import.meta.dirname,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    maxBuffer: 64 << 20,
  }
  const [passed, output] = await new Promise<[boolean, string]>((resolve) => {
    execFile(join(folder, 'bin/python'), args, options, (error, stdout, stderr) =>
      resolve([error === null, `${stdout}${stderr}` || `${error}`]),
    )
  })
  const count = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0)
  signedIn.stop()
  const answered = await loggedBefore(await signedIn.client(), `${service.url}/bot${key}/getMe`)
  return {
    passed,
    said: output.slice(Math.max(0, output.search(/=+ (?:FAILURES|ERRORS|SUMMARY)/))),
    operations: count(/Tested: (\d+)/),
    cases: count(/(\d+) generated/),
    carriedOut: answered.filter(({ error_code }) => error_code === null).length,
  }
}
