/** `npm run screenshots [words]`: pictures of every page and of moments in between, in both languages and themes and on a phone, for looking at. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Looks, openBrowser, signIn, visit } from './browser.ts'
import { messagesIn, momentsOf } from './moments.ts'
import { addressesOf, panelScene, troubled } from './scene.ts'

const folder = join(import.meta.dirname, '../../dist/screenshots')

const looks: Readonly<Record<string, Looks>> = {
  light: {},
  dark: { theme: 'dark' },
  persian: { language: 'fa' },
  phone: { width: 390, height: 844 },
  'phone-persian': { width: 390, height: 844, language: 'fa' },
  'phone-persian-dark': { width: 390, height: 844, language: 'fa', theme: 'dark' },
}

const wanted = process.argv.slice(2)
const named = wanted.filter((word) => word in looks)
/** Without a page's name among the words, every page is meant. */
const isWanted = (name: string) => named.length === wanted.length || wanted.includes(name)

const endings: (() => Promise<void> | void)[] = []
try {
  await mkdir(folder, { recursive: true })
  const testing = { teardown: (work: () => Promise<void> | void) => endings.unshift(work) }
  const scene = await panelScene(testing)
  const trouble = await troubled(testing, scene)
  const browser = await openBrowser()
  endings.unshift(() => browser.close())
  const { deliveries } = trouble
  const pages = Object.entries({ ...addressesOf(scene), 'key-deliveries': deliveries })
  const moments = Object.entries(momentsOf(scene, trouble))
  for (const [look, how] of Object.entries(looks)) {
    if (named.length > 0 && !named.includes(look)) continue
    const visitor = await visit(browser, scene.service, how)
    await visitor.page.goto('/login')
    await visitor.page.locator('input[name=phone]').waitFor()
    const shoot = async (name: string, fullPage = true) => {
      // What sticks to the screen is where it is at first.
      await visitor.page.evaluate('scrollTo(0, 0)')
      await visitor.page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage })
    }
    const arrive = async (address: string) => {
      await visitor.page.goto(address)
      await visitor.page.locator('h1').first().waitFor()
      await visitor.page.locator('.loading').first().waitFor({ state: 'detached' })
      await visitor.page.evaluate('document.fonts.ready')
    }
    if (isWanted('login')) await shoot('login')
    await signIn(visitor, scene.service, scene.phone)
    for (const [name, address] of pages) {
      if (!isWanted(name)) continue
      await arrive(address)
      await shoot(name)
    }
    const said = messagesIn(how.language ?? 'en')
    for (const [name, { address, play, isLong = false }] of moments) {
      if (!isWanted(name)) continue
      await arrive(address)
      await play(visitor.page, said)
      await shoot(name, isLong)
    }
    for (const complaint of visitor.complaints) process.stderr.write(`${look}: ${complaint}\n`)
    await visitor.context.close()
  }
  process.stdout.write(`${folder}\n`)
} finally {
  for (const end of endings) await end()
}
