/** Links that may stand for a file. */

/** The link becomes a part of the file's public id. */
const longestLink = 1_500

export function isLink(link: string | undefined): link is string {
  if (!link || link.length > longestLink || !URL.canParse(link)) return false
  return /^https?:$/.test(new URL(link).protocol)
}

/** What the file behind a link is called: the end of its path. */
export function nameInLink(link: string): string | undefined {
  const { pathname } = new URL(link)
  const last = pathname.slice(pathname.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(last) || undefined
  } catch {
    // Not every link is escaped as it should be.
    return last
  }
}
