# For a machine with NVIDIA cards: torch's ordinary wheels bring CUDA, so the base needs none.
FROM python:3.11-slim

WORKDIR /app
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt

RUN useradd --create-home --uid 1000 ftui && install -d -o ftui -g ftui /workspace
COPY app.py .
COPY ftui ftui
COPY presets presets

# Hub downloads lie in the volume too, so that a new container need not repeat them.
ENV FTUI_HOME=/workspace HF_HOME=/workspace/huggingface PYTHONUNBUFFERED=1
USER ftui
VOLUME /workspace
EXPOSE 7860

# Starts only with FTUI_AUTH=user:password, since it listens on every address of the container.
CMD ["python", "app.py", "--host", "0.0.0.0"]
