// Measures parts of a picture: an expression that is a function of a PNG in base64 and of places as [left, top, width, height].

async (picture, places) => {
  const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0))]));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  const light = (color) => {
    const parts = [16, 8, 0].map((shift) => ((color >> shift) & 255) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const parts = places.map(([left, top, width, height]) => {
    const { data } = context.getImageData(left, top, Math.max(1, width), Math.max(1, height));
    const counts = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const color = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
      counts.set(color, (counts.get(color) || 0) + 1);
    }
    const [ground, most] = [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best));
    const contrasts = [...counts.keys()].map((color) => (Math.max(light(color), light(ground)) + 0.05) / (Math.min(light(color), light(ground)) + 0.05));
    return { ground: "#" + ground.toString(16).padStart(6, "0"), share: (4 * most) / data.length, colors: counts.size, contrast: Math.max(...contrasts), light: light(ground) };
  });
  return { size: [bitmap.width, bitmap.height], parts };
}
