/** OpenClaw's gateway with its Telegram channel behind the protocol of test/libraries/bot-process.ts. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { findPackageJSON } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Absent, serve, started, untilReady, versionOf } from './wire.mjs'

const { address, key, webhook } = await started()
const folder = mkdtempSync(join(tmpdir(), 'chapar-openclaw-'))
const model = await listening((request, response) => answerAsModel(request, response))
const port = await freePort()

// snippet
const telegram = {
  enabled: true,
  apiRoot: address,
  botToken: key,
  dmPolicy: 'open',
  allowFrom: ['*'],
}
if (webhook) {
  telegram.webhookUrl = webhook.url
  telegram.webhookSecret = webhook.secret
  telegram.webhookPath = webhook.path
  telegram.webhookPort = webhook.port
}
const configuration = { channels: { telegram } }
// end

const auth = { mode: 'token', token: 'of the test' }
const gateway = { mode: 'local', port, bind: 'loopback', auth }
const match = { channel: 'telegram', accountId: 'default' }
const baseUrl = `http://127.0.0.1:${model}/v1`
const kettle = { id: 'kettle', name: 'Kettle', contextWindow: 128_000, maxTokens: 32_000 }
const provider = { baseUrl, apiKey: 'none', api: 'openai-completions', models: [kettle] }
const models = { mode: 'replace', providers: { kitchen: provider } }
const defaults = {
  workspace: join(folder, 'workspace'),
  skipBootstrap: true,
  model: { primary: 'kitchen/kettle' },
}
const bindings = [{ agentId: 'main', match }]
const logging = { file: join(folder, 'gateway.log') }
const own = { gateway, bindings, models, agents: { defaults }, logging }
const file = join(folder, 'openclaw.json')
writeFileSync(file, JSON.stringify({ ...configuration, ...own }))
const places = { HOME: folder, OPENCLAW_STATE_DIR: folder, OPENCLAW_CONFIG_PATH: file }
const env = { ...process.env, ...places }
const command = join(dirname(findPackageJSON('openclaw', import.meta.url)), 'openclaw.mjs')
const program = spawn(process.execPath, [command, 'gateway', 'run'], {
  env,
  // It tells on both how far it has come.
  stdio: ['ignore', process.stderr, process.stderr],
  detached: true,
})
process.on('exit', () => {
  try {
    // The whole group: the command starts the gateway as a process of its own.
    process.kill(-program.pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  } finally {
    // Those that were just killed may still be writing.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
})
program.on('exit', (code, signal) => {
  throw new Error(`the gateway ended with ${code ?? signal}`)
})
await untilReady(async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok)

/** Resolves whether the message was sent. */
async function notify({ chat_id, title, body }) {
  const message = { action: 'send', channel: 'telegram', target: `${chat_id}` }
  const answer = await fetch(`http://127.0.0.1:${port}/tools/invoke`, {
    method: 'POST',
    headers: { authorization: `Bearer ${auth.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tool: 'message', args: { ...message, message: `${title}: ${body}` } }),
  })
  const { ok, error } = await answer.json()
  // It does not say more about why the network refused.
  if (!ok && error.type !== 'tool_error') throw new Error(error.message)
  return ok
}

/** A model that knows about kettles: it tells of the highest number it was asked about, piece by piece. */
async function answerAsModel(request, response) {
  const { messages, stream } = JSON.parse(Buffer.concat(await request.toArray()))
  const asked = [...JSON.stringify(messages).matchAll(/kettle (\d+)/g)]
  const number = Math.max(...asked.map(([, digits]) => Number(digits)))
  const words = [`Kettle **${number}** `, 'boils.']
  const answer = (choice, finish_reason = null) => ({
    id: 'a',
    object: stream ? 'chat.completion.chunk' : 'chat.completion',
    created: 1,
    model: 'kettle',
    choices: [{ index: 0, finish_reason, ...choice }],
  })
  if (!stream) {
    const message = { role: 'assistant', content: words.join('') }
    response.setHeader('content-type', 'application/json')
    return response.end(JSON.stringify(answer({ message }, 'stop')))
  }
  const pieces = words.map((content) => answer({ delta: { role: 'assistant', content } }))
  response.setHeader('content-type', 'text/event-stream')
  for (const piece of [...pieces, answer({ delta: {} }, 'stop')]) {
    response.write(`data: ${JSON.stringify(piece)}\n\n`)
  }
  response.end('data: [DONE]\n\n')
}

async function listening(handler) {
  const server = createServer(handler)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server.address().port
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

await serve(versionOf('openclaw'), {
  call: (method, parameters) => {
    if (method !== 'notify') throw new Absent(`OpenClaw has no ${method}`)
    return notify(parameters)
  },
  download: () => {
    throw new Absent('OpenClaw downloads by itself')
  },
  refusalOf: () => undefined,
})
