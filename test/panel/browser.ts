/** A real browser at the panel of a real service. */
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import type { Service } from '../support/service.ts'
import { buildPanel } from './build.ts'

/** The first has no windows, and opens pages two to four times as fast. */
const places = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
)
const executablePath = places.find((place) => existsSync(place))

// The service reads the panel when it starts.
if (executablePath !== undefined) await buildPanel()

/** Why there can be no browser; to be given as the reason of a skipped test. */
export const noBrowser =
  executablePath === undefined && 'needs Chromium: apt-get install chromium-headless-shell'

export interface Looks {
  readonly language?: 'en' | 'fa'
  readonly theme?: 'light' | 'dark'
  readonly width?: number
  readonly height?: number
  /** The zone of the reader's clock. */
  readonly zone?: string
  /** Instead of `localhost`. */
  readonly origin?: string
}

export interface Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /** What the browser complained about: scripts, and what its content policy stopped. */
  readonly complaints: string[]
  readonly origin: string
}

export function openBrowser(...args: readonly string[]): Promise<Browser> {
  const options = executablePath === undefined ? {} : { executablePath }
  return chromium.launch({ ...options, args: ['--no-sandbox', '--disable-gpu', ...args] })
}

/** Browsers keep secure cookies of `localhost` without TLS. */
/** What a browser needs of a service, whichever process it runs in. */
type Visited = Pick<Service, 'url' | 'code'>

export const originOf = (service: Pick<Service, 'url'>) =>
  service.url.replace('127.0.0.1', 'localhost')

export async function visit(
  browser: Browser,
  service: Pick<Service, 'url'>,
  {
    language = 'en',
    theme = 'light',
    width = 1280,
    height = 860,
    zone,
    origin = originOf(service),
  }: Looks = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    locale: language === 'fa' ? 'fa-IR' : 'en-GB',
    reducedMotion: 'reduce',
    ...(zone !== undefined && { timezoneId: zone }),
    baseURL: origin,
  })
  // A browser beside a database and other tests on two cores is slow at times.
  context.setDefaultTimeout(30_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    // An answer of 4xx is a matter between the page and the service, and shown by the page.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isAnswer) complaints.push(message.text())
  })
  return { context, page, complaints, origin }
}

/** Signs in as a person would. */
export async function signIn({ page }: Visitor, service: Visited, phone: string): Promise<void> {
  await page.goto('/login')
  await page.locator('input[name=phone]').fill(phone)
  await page.locator('button[type=submit]').click()
  await page.locator('input[name=otp]').waitFor()
  await page.locator('input[name=otp]').fill(await service.code(phone))
  await page.locator('button[type=submit]').click()
  await page.waitForURL('**/dashboard')
}
