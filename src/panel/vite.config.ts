/** How the panel is bundled: hashed files under /assets, nothing inlined that the content policy forbids. */
import { defineConfig, type Plugin, type Rolldown } from 'vite'

/** The pages that are loaded when they are needed, by address. */
const pages: Readonly<Record<string, string>> = {
  '/dashboard/accounts': 'pages/credentials/credentials.tsx',
  '/dashboard/accounts/:id': 'pages/credential/credential.tsx',
  '/dashboard/accounts/:id/diagnosis': 'pages/diagnosis/of-account.tsx',
  '/dashboard/link': 'pages/linking/link.tsx',
  '/dashboard/link/:platform/:session': 'pages/linking/session.tsx',
  '/dashboard/keys': 'pages/keys/keys.tsx',
  '/dashboard/keys/:id': 'pages/key/key.tsx',
  '/dashboard/keys/:id/try': 'pages/explorer/try.tsx',
  '/dashboard/keys/:id/diagnosis': 'pages/diagnosis/diagnosis.tsx',
  '/dashboard/alerts': 'pages/alerts/alerts.tsx',
  '/dashboard/nodes': 'pages/nodes/nodes.tsx',
  '/dashboard/users': 'pages/users/users.tsx',
  '/dashboard/account/audit': 'pages/audit/audit.tsx',
  '/dashboard/demo': 'pages/demo/demo.tsx',
  '/dashboard/sandbox': 'pages/sandbox/sandbox.tsx',
  '/dashboard/account': 'pages/account/account.tsx',
  '/link/:token': 'pages/invitation/invitation.tsx',
}
const languages: Readonly<Record<string, string>> = { en: 'i18n/en.ts', fa: 'i18n/fa.ts' }

/** The script of a module, and the scripts and styles that it needs beside those that every page has. */
function filesOf(module: string, bundle: Rolldown.OutputBundle): string[] {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
  const own = chunks.find((chunk) => chunk.facadeModuleId === `${import.meta.dirname}/${module}`)
  if (!own) throw new Error(`${module} has no script of its own`)
  const needed = new Set<string>()
  const add = (name: string) => {
    const chunk = chunks.find(({ fileName }) => fileName === name)
    if (!chunk || chunk.isEntry || needed.has(name)) return
    needed.add(name)
    for (const style of chunk.viteMetadata?.importedCss ?? []) needed.add(style)
    for (const next of chunk.imports) add(next)
  }
  add(own.fileName)
  return [...needed]
}

const isEarly = (file: Rolldown.OutputAsset | Rolldown.OutputChunk) =>
  file.type === 'chunk' && file.isEntry && file.name === 'early'

/** Tells the service what a page needs, so that browsers ask for it before they have run the first script. */
const preloads: Plugin = {
  name: 'preloads',
  generateBundle(_, bundle) {
    const listed = (modules: Readonly<Record<string, string>>) =>
      Object.fromEntries(
        Object.entries(modules).map(([name, module]) => [name, filesOf(module, bundle)]),
      )
    const source = JSON.stringify({
      first: Object.values(bundle).flatMap((file) => (isEarly(file) ? [file.fileName] : [])),
      pages: listed(pages),
      languages: listed(languages),
    })
    this.emitFile({ type: 'asset', fileName: 'preloads.json', source })
  },
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle }) {
      const early = Object.values(bundle ?? {}).find(isEarly)
      if (!early) throw new Error('there is no early script')
      // The main script waits for the styles, and a script with `async` does not.
      return html.replace(
        `<link rel="modulepreload" crossorigin href="/${early.fileName}">`,
        `<script type="module" crossorigin async src="/${early.fileName}"></script>`,
      )
    },
  },
}

/** The charts ask for numbers of the browser's language before they are given a format, and some systems name none that there is. */
const anyLanguage: Plugin = {
  name: 'any-language',
  transform: {
    filter: { id: /uPlot\.esm\.js$/ },
    handler(code) {
      const asked = 'Intl.NumberFormat(domEnv ? nav.language : '
      if (!code.includes(asked)) throw new Error('the charts ask for a language in another way')
      return { code: code.replace(asked, 'Intl.NumberFormat(domEnv ? undefined : '), map: null }
    },
  },
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [preloads, anyLanguage],
  build: {
    assetsDir: 'assets',
    // A data: address is no script, style or font of this service.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    sourcemap: false,
    // One file, because each file of a page takes one of the connections.
    cssCodeSplit: false,
    rolldownOptions: {
      input: [`${import.meta.dirname}/index.html`, `${import.meta.dirname}/early.ts`],
      output: {
        // A browser has six connections to one server. More files than that wait for each other, a round trip each time.
        codeSplitting: {
          groups: [
            { name: 'early', test: /panel\/(early|api\/(session|ask|failure))\.ts$/, priority: 4 },
            { name: 'first', tags: ['$initial'], priority: 3 },
            { name: 'chart', test: /dagre|panel\/chart\/(statechart|layout)/, priority: 2 },
            { name: 'shared', minShareCount: 2, maxModuleSize: 20_000, priority: 1 },
          ],
        },
      },
    },
  },
})
