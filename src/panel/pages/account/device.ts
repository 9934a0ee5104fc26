/** What a browser says about itself, in as few words as tell one device from another. */
const browsers: readonly (readonly [form: RegExp, name: string])[] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/Firefox\//, 'Firefox'],
  [/(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const systems: readonly (readonly [form: RegExp, name: string])[] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux/, 'Linux'],
]

export function deviceOf(userAgent: string): string {
  const nameIn = (names: typeof browsers) => names.find(([form]) => form.test(userAgent))?.[1]
  const known = [nameIn(browsers), nameIn(systems)].filter(Boolean).join(' · ')
  return known || userAgent.split(/[\s(]/)[0] || userAgent
}
