/** How the panel is served: its content policy, its caching, and how little is loaded first. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import t from 'tap'
import { panelDirectory, panelRoutes, readPanel } from '../../src/http/panel.ts'
import { bareServer } from '../http/observability-rig.ts'
import { buildPanel } from './build.ts'

await buildPanel()
const files = await readPanel(panelDirectory)

const panelSource = join(import.meta.dirname, '../../src/panel')

const FIRST_LOAD_BYTES = 300_000

t.test('every address of the panel gives its page, with a strict content policy', async (t) => {
  const app = bareServer(t)
  await app.register(panelRoutes, { directory: panelDirectory })
  for (const url of ['/login', '/dashboard', '/dashboard/accounts/7?tab=x', '/link/some-token']) {
    const { statusCode, headers, body } = await app.inject({ url })
    t.equal(statusCode, 200, url)
    t.match(headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': /script-src 'self'; .*require-trusted-types-for 'script'/,
      'cross-origin-opener-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
    t.notMatch(headers['content-security-policy'], /unsafe/)
    t.match(body, /<div id="panel">/)
    t.notMatch(body, /<script(?![^>]* src=)|<style| style=| on\w+=/, 'nothing inline')
  }
  t.match(await app.inject('/'), { statusCode: 302, headers: { location: '/dashboard' } })
})

t.test(
  'a page names the scripts that it will need, so that they come with the first one',
  async (t) => {
    const app = bareServer(t)
    await app.register(panelRoutes, { directory: panelDirectory })
    const scriptsOf = async (url: string, language: string) => {
      const { headers } = await app.inject({ url, headers: { 'accept-language': language } })
      return `${headers.link}`.split(', ').map((link) => {
        const [, script] =
          /^<\/(assets\/[^>]+\.js)>; rel=modulepreload; crossorigin$/.exec(link) ?? []
        t.ok(script !== undefined && files.has(script), link)
        return script?.replace(/^assets\/|-[\w-]{8}\.js$/g, '')
      })
    }
    t.same(await scriptsOf('/dashboard', 'en'), ['early', 'en'])
    t.same(await scriptsOf('/dashboard/nothing/at/all', 'de-DE,de;q=0.9'), ['early', 'en'])
    t.same(await scriptsOf('/login', 'de, fa-IR;q=0.8'), ['early', 'fa'])

    const routes = await readFile(join(panelSource, 'app.tsx'), 'utf8')
    const late = [
      ...routes.matchAll(/lazyPage\(\s*'([^']+)',\s*'\w+',\s*\(\) => import\('\.\/([^']+)'\)/g),
    ]
    t.ok(late.length > 10)
    for (const [, address = '', module = ''] of late) {
      const scripts = await scriptsOf(address.replaceAll(/:\w+/g, '7'), 'en')
      t.ok(scripts.includes(basename(module, '.tsx')), `${address} has ${module}: ${scripts}`)
    }
  },
)

t.test('assets are kept for ever and sent compressed', async (t) => {
  const app = bareServer(t)
  await app.register(panelRoutes, { directory: panelDirectory })
  const asset = [...files.keys()].find((name) => name.endsWith('.js'))
  const url = `/${asset}`
  t.match((await app.inject(url)).headers, {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  })
  for (const encoding of ['br', 'gzip']) {
    const headers = { 'accept-encoding': `x, ${encoding};q=0.8` }
    t.equal((await app.inject({ url, headers })).headers['content-encoding'], encoding)
  }
  const refused = { 'accept-encoding': 'br;q=0, gzip; q=0' }
  t.equal((await app.inject({ url, headers: refused })).headers['content-encoding'], undefined)
  for (const missing of ['/assets/none.js', '/assets/..%2findex.html', '/assets/.built-from']) {
    t.equal((await app.inject(missing)).statusCode, 404, missing)
  }
})

t.test('without a build the pages say so', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'chapar-panel-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const app = bareServer(t)
  await app.register(panelRoutes, { directory: join(directory, 'nothing') })
  t.match((await app.inject('/login')).json(), { ok: false, error_code: 503 })
})

t.test('the first page loads less than 300 KB of compressed JavaScript', async (t) => {
  const first = new Set<string>()
  const add = (name: string) => {
    if (first.has(name)) return
    first.add(name)
    const code = files.get(`assets/${name}`)?.plain.toString() ?? ''
    for (const [, next] of code.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) add(next ?? '')
  }
  const index = files.get('index.html')?.plain.toString() ?? ''
  for (const [, name] of index.matchAll(/\/assets\/([\w.-]+\.js)/g)) add(name ?? '')
  const bytes = [...first].reduce(
    (sum, name) => sum + (files.get(`assets/${name}`)?.gzip?.length ?? 0),
    0,
  )
  t.ok(bytes > 50_000, `${bytes} bytes in ${first.size} files`)
  t.ok(bytes < FIRST_LOAD_BYTES, `${bytes} bytes`)
})
