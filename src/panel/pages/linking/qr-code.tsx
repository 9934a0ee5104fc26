/** A text as a QR code, black on white in every theme: scanners want it so. */
import { useMemo } from 'react'
import { encode } from 'uqr'

const QUIET = 3

export function QrCode({ value, label }: { readonly value: string; readonly label: string }) {
  const { size, path } = useMemo(() => drawn(value), [value])
  return (
    <svg
      className="qr"
      viewBox={`${-QUIET} ${-QUIET} ${size + 2 * QUIET} ${size + 2 * QUIET}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect x={-QUIET} y={-QUIET} width={size + 2 * QUIET} height={size + 2 * QUIET} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

function drawn(value: string) {
  const { data, size } = encode(value, { border: 0 })
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x},${y}h1v1h-1z` : '')))
    .join('')
  return { size, path }
}
