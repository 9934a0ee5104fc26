/** Numbers as Persian and Arabic keyboards type them, as the service reads them. */
const ZEROS = [0x06f0, 0x0660]

export const latinDigits = (text: string): string =>
  text.replaceAll('٫', '.').replace(/[۰-۹٠-٩]/g, (digit) => {
    const code = digit.charCodeAt(0)
    return `${code - (ZEROS.find((zero) => code >= zero) ?? code)}`
  })
