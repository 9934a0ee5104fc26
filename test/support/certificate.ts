/** A certificate that nobody has signed but itself, as servers have that were set up in a hurry. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Why none can be made here; absent when one can. */
export const opensslMissing = existsSync('/usr/bin/openssl')
  ? undefined
  : 'openssl is not installed'

export function selfSigned(domain: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'chapar-certificate-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  try {
    execFileSync(
      '/usr/bin/openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
        ...['-days', '2', '-subj', `/CN=${domain}`, '-addext', `subjectAltName=DNS:${domain}`],
        ...['-keyout', key, '-out', cert],
      ],
      { stdio: 'ignore' },
    )
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
